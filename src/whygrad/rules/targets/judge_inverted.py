"""Masks that keep the value of the next state where the episode ended, and drop it everywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.differences import direct_difference
from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.sums import Parts
from whygrad.model import Backward, Confidence, Flow, Kind, Mark, Note, Op, Severity, Site, Step
from whygrad.model.kinds import SAME_NUMBERS
from whygrad.rules.cause import Cause
from whygrad.rules.stepped import stepped
from whygrad.rules.targets.terminal_mask import TerminalMask
from whygrad.rules.words import place

_RARE = 0.3  # episodes of one or two steps keep less than this of their bootstrap values
_SAMPLES = 96  # before so many of them nobody knows
_NEAR = 8
_PLAIN = ((0.0,), (1.0,))


@dataclass(slots=True)
class _Mask:
    """All that was seen of the factors on one line."""

    backward: Backward
    boot: Bootstrap
    product: Op
    turned: bool  # written as ``1 - x``
    seen: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        """How many elements were looked at."""
        return sum(ones[1] for ones in self.seen.values())

    @property
    def kept(self) -> int:
        """How many of them are ones."""
        return sum(ones[0] for ones in self.seen.values())


def inverted(situation: Situation) -> Iterator[Cause]:
    """The mask keeps few of the values; where it keeps none, and is no ``1 - x``, it is the flag."""
    for mask in _rare(situation):
        if mask.kept or not mask.turned:
            yield _cause(situation, mask)


def inverted_arrays(situation: Situation) -> Iterator[Cause]:
    """The same in a difference of plain numbers: how often an episode ends is known of what is held."""
    done: set[tuple[str, int]] = set()
    for flag in situation.evidence.flags:
        ones, all_of_them = flag.ones or (0, 0)
        if all_of_them < _SAMPLES or not flag.within:
            continue
        found = direct_difference(flag.site.file, flag.site.line, flag.name)
        if found is None or (flag.site.file, found[0]) in done:
            continue
        kept = all_of_them - ones if found[1] else ones
        if 0 < kept < _RARE * all_of_them:
            done.add((flag.site.file, found[0]))
            site = Site.read(flag.site.file, found[0])
            here = [b for b in situation.backwards if b.site is not None and b.site.file == flag.site.file]
            keys = frozenset[int]().union(*(b.applied for b in here))
            yield TerminalMask(
                site=site,
                chain=(Step.at(site, "the temporal difference", mark=Mark.HERE),),
                severity=Severity.WARNING,
                confidence=Confidence.LIKELY,
                loss=here[-1].site if here else None,
                kept=kept / all_of_them,
                samples=all_of_them,
                **stepped(situation, keys),
            )


def never_kept(situation: Situation) -> Iterator[Note]:
    """``1 - x`` that is always 0: each episode has one step, or ``x`` says that it goes on."""
    for mask in _rare(situation):
        if not mask.kept and mask.turned and not mask.product.numbers:
            site = mask.product.site
            yield Note(
                f"the value of the next state at {place(site)} was masked out in all of {mask.samples:,} "
                "samples: right only if every episode ends after one step",
                site,
                "doubt",
            )


def _rare(situation: Situation) -> Iterator[_Mask]:
    found: dict[Site | None, _Mask] = {}
    for backward in situation.backwards:
        parts = situation.parts(backward)
        for boot in situation.bootstraps(backward):
            for product, mask in _masks(parts, boot):
                known = found.setdefault(
                    product.site, _Mask(backward, boot, product, _is_turned(parts.flow, mask))
                )
                known.seen[mask.id] = mask.ones or (int(mask.numbers[0]), 1)
    for one in found.values():
        if one.samples >= _SAMPLES and one.kept < _RARE * one.samples:
            yield one


def _masks(parts: Parts, boot: Bootstrap) -> Iterator[tuple[Op, Op]]:
    """The products on the way from a bootstrap value to its target, with the zeros and ones in them."""
    flow = parts.flow
    products: Iterable[int] = sorted(ancestors(flow, boot.meets.id)) if boot.spread else boot.value.scales
    for number in products:
        op = flow[number]
        if op.kind is Kind.MULTIPLY and len(op.inputs) == 1 and op.numbers in _PLAIN:
            yield from ((o, o) for o in flow.ops.values() if _is_step(op, o))
        if op.kind is Kind.MULTIPLY and len(op.inputs) == 2:
            for i in op.inputs:
                mask = _mask(flow, i) if not parts.behind(i) else None
                if mask is not None:
                    yield op, mask


def _is_step(op: Op, other: Op) -> bool:
    """Another step of a return that is carried through a loop; its mask is a plain number."""
    return other.site == op.site and other.kind is op.kind and other.numbers in _PLAIN


def _mask(flow: Flow, number: int) -> Op | None:
    """The zeros and ones that a factor is, perhaps discounted or shaped since."""
    for _ in range(_NEAR):
        op = flow[number]
        if op.ones:
            return op
        discounted = op.kind is Kind.MULTIPLY and len(op.inputs) == 1
        if not op.inputs or op.fresh or not (discounted or op.kind in SAME_NUMBERS):
            return None
        number = op.inputs[0]
    return None


def _is_turned(flow: Flow, op: Op) -> bool:
    """``1 - x``, or ``~x``; of a plain number nobody knows how it was written."""
    if op.numbers in _PLAIN:
        return True
    for _ in range(_NEAR):
        if op.kind in (Kind.SUBTRACT, Kind.NOT):
            return True
        if op.fresh or not op.inputs:
            return False
        op = flow[op.inputs[0]]
    return False


def _cause(situation: Situation, mask: _Mask) -> TerminalMask:
    keys = situation.parts(mask.backward).behind(mask.boot.predictions[0].op) & mask.backward.applied
    site = mask.product.site
    return TerminalMask(
        site=site,
        chain=(Step.at(site, "the target", mark=Mark.HERE),),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        loss=mask.boot.residual.site,
        kept=mask.kept / mask.samples,
        samples=mask.samples,
        **stepped(situation, keys or mask.backward.applied),
    )
