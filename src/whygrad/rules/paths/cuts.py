"""One cut on one path: which cause it is, which line is to blame, and the chain that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from whygrad.flow.paths import Path, is_detach
from whygrad.model import Block, Kind, Mark, Op, Parameter, Site, Step
from whygrad.model.kinds import SAME_NUMBERS
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import Dialect
from whygrad.rules.paths.detached import Detached
from whygrad.rules.paths.no_grad_block import NoGradBlock
from whygrad.rules.paths.nondifferentiable_op import NondifferentiableOp
from whygrad.rules.paths.numpy_round_trip import NumpyRoundTrip, Way
from whygrad.rules.paths.outside_tape import Kind as Missed
from whygrad.rules.paths.outside_tape import OutsideTape

_WAYS: dict[Kind, Way] = {Kind.PREDICT: "predict", Kind.CALLBACK: "callback"}
_FORWARD = frozenset(("forward", "call", "__call__"))


@dataclass(frozen=True, slots=True)
class Cut:
    """The first cut of a path: a cause that does not know yet who suffers, and the operation to show."""

    cause: Cause
    op: Op


def first_cut(path: Path, dialect: Dialect) -> Cut:
    """What cut this path, seen from the parameter."""
    position = path.cuts[0]
    exit_at = _left_after(path, position)
    if exit_at is not None:
        return Cut(_round_trip(path, exit_at, dialect), path.ops[exit_at])
    op = path.ops[position]
    return Cut(_blocked(op, op.block) if op.block is not None else _cut_by(op, dialect), op)


def _left_after(path: Path, position: int) -> int | None:
    """``.detach().cpu().numpy()``: the detach only serves the leaving, which is the real story."""
    for index in range(position, len(path.ops)):
        op = path.ops[index]
        if op.left:
            return index if op.block is None else None
        if not (is_detach(op) or op.kind in SAME_NUMBERS):
            return None
    return None


def _round_trip(path: Path, exit_at: int, dialect: Dialect) -> Cause:
    left = path.ops[exit_at]
    back = path.ops[exit_at + 1] if exit_at + 1 < len(path.ops) else None
    return NumpyRoundTrip(
        site=left.site,
        way=_WAYS.get(left.kind, "numbers"),
        left=spoken(left, dialect),
        back=maker(back, dialect) if back else "",
        back_at=back.site if back else None,
    )


def _blocked(op: Op, block: Block) -> Cause:
    """It ran where nothing is recorded."""
    if not block.tape:
        return NoGradBlock(site=block.site, block=block.kind, inside=op.site)
    site = block.site if block.kind == "unwatched" else _asked_at(op, block.site)
    return OutsideTape(site=site, kind=cast(Missed, block.kind), tape=block.site)


def _cut_by(op: Op, dialect: Dialect) -> Cause:
    """It is the operation itself that lets no gradient through."""
    if is_detach(op):
        return Detached(site=op.site, op=spoken(op, dialect))
    if op.fresh:
        return NumpyRoundTrip(site=op.site, way="copy", left=maker(op, dialect), many=len(op.inputs) > 1)
    assigned = op.kind is Kind.STORE
    if _samples(op) or not op.floating or op.kind is Kind.STEPWISE or assigned:
        return NondifferentiableOp(site=op.site, op=_titled(op, dialect), zero=op.carries, assigned=assigned)
    return Detached(site=op.site, op=spoken(op, dialect), meant=False)


def _samples(op: Op) -> bool:
    return op.api.rpartition(".")[2] in ("sample", "sample_n")


def _titled(op: Op, dialect: Dialect) -> str:
    """A sample by its distribution, everything else as it is written."""
    return op.api if _samples(op) else spoken(op, dialect)


def maker(op: Op, dialect: Dialect) -> str:
    """The function that made a fresh tensor; nothing where the framework made it without being told to."""
    return dialect.maker(op.name, op.site.code if op.site else "") if op.fresh else ""


def spoken(op: Op, dialect: Dialect) -> str:
    """An operation as one writes it."""
    return dialect.spoken(op.name, op.site.code if op.site else "")


def chain(
    path: Path, parameter: Parameter, found: Cut, loss: Site | None, home: Site | None, dialect: Dialect
) -> tuple[Step, ...]:
    """The way from the parameter to the loss, a step per line of the user, the cut marked.

    An operation inside a module is shown by the line that called the module, if that line stands in the
    function that differentiates (``home``): that is the code that the reader has in mind.
    """
    steps = [Step(parameter.name, parameter.made[0] if parameter.made else None)]
    for op in path.ops[1:]:
        if op is found.op:
            _add_cut(steps, found, dialect)
        else:
            site = _at_home(op, home)
            _add(steps, Step.at(site, spoken(op, dialect)))
    _add(steps, Step.at(loss, "the loss"))
    return tuple(steps)


def _add_cut(steps: list[Step], found: Cut, dialect: Dialect) -> None:
    op, cause = found.op, found.cause
    if op.block is not None and isinstance(cause, NoGradBlock):
        _add(steps, Step(op.block.kind, op.block.site))
    flat = isinstance(cause, NondifferentiableOp) and cause.zero
    steps.append(Step(_titled(op, dialect), op.site, mark=Mark.FLAT if flat else Mark.CUT))
    if op.site is not None and _in_library(op.site):
        own = [site for site in op.callers if not _in_library(site)]
        steps += [Step(site.code, site) for site in own[:1]]


def _in_library(site: Site) -> bool:
    """Installed code: the user cannot change it, so their own line that called it is shown as well."""
    return "site-packages" in site.file or "dist-packages" in site.file


def _asked_at(op: Op, home: Site) -> Site | None:
    """The line that asked a network outside of the tape, not one inside of the network."""
    site = _at_home(op, home)
    if site is None or site.function not in _FORWARD:
        return site
    return next((s for s in op.callers if s.function not in _FORWARD), site)


def _at_home(op: Op, home: Site | None) -> Site | None:
    for site in (op.site, *op.callers):
        if site and home and (site.file, site.function) == (home.file, home.function):
            return site
    return op.site


def _add(steps: list[Step], step: Step) -> None:
    """Append a step, unless the last one shows the same line already."""
    last = steps[-1].site
    if step.site is not None and (last is None or (last.file, last.line) != (step.site.file, step.site.line)):
        steps.append(step)
