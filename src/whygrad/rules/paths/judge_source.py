"""A round trip that no value proves, but the source text does: ``loss -= log_prob.item() * r``."""

from __future__ import annotations

from dataclasses import replace

from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.source import feeding_lines, numpy_call
from whygrad.model import Backward, Confidence, Mark, Op, Optimizer, Parameter, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.paths import cuts
from whygrad.rules.paths.numpy_round_trip import NumpyRoundTrip


def by_source(
    situation: Situation,
    optimizer: Optimizer,
    parameter: Parameter,
    backward: Backward,
    term: Op | None = None,
) -> Cause | None:
    """No value was seen coming back, but the source says that one did: ``loss -= lp.item() * r``.

    ``term`` is the part of the loss to look in, else it is all of it.
    """
    roots = backward.roots if term is None else (term.id,)
    exits = [backward.flow[e] for e in backward.exits]
    exits = [e for e in exits if e.block is None and _is_number(backward, e)]
    mine = [e for e in exits if e.site is not None and _comes_from(backward, e, parameter.key)]
    for entry in _entries(backward, roots):
        if entry.site is None:
            continue
        lines = feeding_lines(entry.site.file, entry.site.line)
        near = [
            (lines[left.site.line], -left.time, left)
            for left in mine
            if left.site is not None and left.site.file == entry.site.file
            if left.site.line in lines and left.time < entry.time
        ]
        if near:
            left = min(near, key=lambda n: n[:2])[2]
            return _source_cause(situation, optimizer, parameter, backward, left, entry)
    return _through_numpy(situation, optimizer, parameter, backward, roots)


def _is_number(backward: Backward, left: Op) -> bool:
    """An action or an index that left was never meant to carry a gradient."""
    return all(backward.flow[i].floating for i in left.inputs)


def _through_numpy(
    situation: Situation,
    optimizer: Optimizer,
    parameter: Parameter,
    backward: Backward,
    roots: tuple[int, ...],
) -> Cause | None:
    """``np.clip(actor(s), -1, 1)``: numpy takes a tensor without asking the framework."""
    ends = [backward.flow[e] for e in backward.ends]
    mine = [e for e in ends if e.site is not None and _comes_from(backward, e, parameter.key)]
    for entry in _entries(backward, roots) if mine else ():
        for site in (entry.site, *entry.callers) if entry.site is not None else ():
            lines = feeding_lines(site.file, site.line)
            for line in sorted(lines, key=lambda n: (lines[n], -n)):
                name = numpy_call(site.file, line)
                if name and any(_goes_into(end, site.file, line) for end in mine):
                    left = replace(mine[-1], name=name, site=Site.read(site.file, line, site.function))
                    return _source_cause(situation, optimizer, parameter, backward, left, entry)
    return None


def _goes_into(end: Op, file: str, line: int) -> bool:
    """Is a value that the framework did not use read, by name or at once, on this line?"""
    near = {n for n, distance in feeding_lines(file, line).items() if distance <= 1}
    places = [site for site in (end.site, *end.callers) if site is not None]
    return end.block is None and any(site.file == file and site.line in near for site in places)


def _comes_from(backward: Backward, left: Op, key: int) -> bool:
    return any(backward.flow[i].parameter == key for i in ancestors(backward.flow, left.id))


def _entries(backward: Backward, roots: tuple[int, ...]) -> list[Op]:
    """Operations near the loss that took in plain data, the nearest first."""
    found: dict[object, Op] = {}  # one of each line: a loop repeats them
    todo = list(roots)
    seen = set(todo)
    while todo and len(found) < 64:
        op = backward.flow[todo.pop(0)]
        if (
            op.fresh
            or not op.inputs
            or op.id in roots
            or (op.site is not None and not op.parameter and len(found) < 16)
        ):
            found.setdefault((op.site, op.fresh, op.time if op.via else 0), op)
        for there in op.inputs:
            if there not in seen:
                seen.add(there)
                todo.append(there)
    return list(found.values())


def _source_cause(
    situation: Situation, optimizer: Optimizer, parameter: Parameter, backward: Backward, left: Op, entry: Op
) -> Cause:
    dialect = dialect_of(situation.evidence.framework)
    call = cuts.spoken(left, dialect)
    return NumpyRoundTrip(
        left=call,
        back=cuts.maker(entry, dialect),
        back_at=entry.site,
        site=left.site,
        subjects=(parameter,),
        chain=(
            Step(parameter.name, parameter.made[0] if parameter.made else None),
            Step(call, left.site, mark=Mark.CUT),
            Step.at(entry.site, entry.name),
        ),
        confidence=Confidence.LIKELY,
        optimizer=optimizer.name,
        loss=backward.flow[backward.roots[0]].site,
    )
