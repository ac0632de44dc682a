"""Bootstrap values that nothing ends, although the batch says where episodes end."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.carried_sums import unmasked_sum
from whygrad.flow.differences import unmasked_difference
from whygrad.flow.flags import is_read
from whygrad.flow.paths import ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.sums import Parts
from whygrad.model import Backward, Confidence, Flag, Flow, Kind, Mark, Op, Severity, Site, Step
from whygrad.model.kinds import SAME_NUMBERS
from whygrad.rules.cause import Cause
from whygrad.rules.stepped import stepped
from whygrad.rules.targets.unmasked_bootstrap import UnmaskedBootstrap

_CHOOSING = frozenset((Kind.WHERE, Kind.PUT, Kind.COLLECT))


def unmasked(situation: Situation) -> Iterator[Cause]:
    """The reward of every sample gets the value of the next state, and the ends are not read."""
    done: set[Site | None] = set()
    for backward in situation.backwards:
        if backward.error or not situation.evidence.flags:
            continue
        parts = situation.parts(backward)
        for boot in situation.bootstraps(backward):
            if boot.spread or boot.meets.site in done or _masked(parts, boot):
                continue
            done.add(boot.meets.site)
            flag = _unread(situation, boot)
            if flag is not None:
                yield _cause(situation, backward, boot, flag)


def across_ends(situation: Situation) -> Iterator[Cause]:
    """Advantages over a rollout with ends in it, computed from numbers: the formula is in the source text."""
    done: set[Site] = set()
    known = {cause.site for cause in unmasked(situation)}
    for flag in situation.evidence.flags:
        if not flag.within or flag.name.rpartition(".")[2].startswith("_"):
            continue
        line = unmasked_difference(flag.site.file, flag.site.line)
        site = Site.read(flag.site.file, line) if line is not None else None
        if site is None or site in done or any(k and (k.file, k.line) == (site.file, line) for k in known):
            continue
        if not is_read(flag.site.file, flag.site.line, flag.name):
            done.add(site)
            yield _in_source(situation, site, flag)


def carried_on(situation: Situation) -> Iterator[Cause]:
    """The same rollout with a mask on each value, and none on the sum that is carried from step to step."""
    done: set[tuple[str, int]] = set()
    for flag in situation.evidence.flags:
        file = flag.site.file
        carried = unmasked_sum(file, flag.site.line, flag.name) if flag.within else None
        if carried is not None and (file, carried[0]) not in done:
            done.add((file, carried[0]))
            site = Site.read(file, carried[0])
            if site is not None:
                yield _in_source(situation, site, flag, mask=carried[1])


def _in_source(situation: Situation, site: Site, flag: Flag, mask: str = "") -> Cause:
    here = [b for b in situation.backwards if b.site is not None and b.site.file == site.file]
    keys = frozenset[int]().union(*(b.applied for b in here))
    return UnmaskedBootstrap(
        site=site,
        chain=(Step.at(site, "the sum" if mask else "the temporal difference", mark=Mark.HERE),),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        loss=here[-1].site if here else None,
        flag=flag.name,
        mask=mask,
        **stepped(situation, keys),
    )


def _cause(situation: Situation, backward: Backward, boot: Bootstrap, flag: Flag) -> Cause:
    parts = situation.parts(backward)
    keys = frozenset(k for p in boot.predictions for k in parts.behind(p.op)) & backward.applied
    return UnmaskedBootstrap(
        site=boot.meets.site,
        chain=(Step.at(boot.meets.site, "the target", mark=Mark.HERE),),
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,  # all of them may be ends by a time limit
        loss=boot.residual.site,
        flag=flag.name,
        **stepped(situation, keys or backward.applied),
    )


def _masked(parts: Parts, boot: Bootstrap) -> bool:
    """Is there anything on the way from the value to the target that differs from sample to sample?"""
    flow = parts.flow
    between = ancestors(flow, boot.meets.id) - ancestors(flow, boot.value.value)
    read = [flow[n] for n in between if flow[n].via == "source"]
    if (
        any(flow[n].kind in _CHOOSING for n in between)
        or len([o for o in read if o.kind is Kind.MULTIPLY]) > 1
    ):
        return True
    return any(_by_sample(parts, flow[number]) for number in boot.value.scales)


def _by_sample(parts: Parts, product: Op) -> bool:
    factors = [_itself(parts.flow, parts.flow[i]) for i in product.inputs if not parts.behind(i)]
    factors = [f for f in factors if f.kind is not Kind.POWER or not f.swapped]  # ``gamma ** steps``
    return any(f.shape not in ((), (1,), (1, 1)) for f in factors)


def _itself(flow: Flow, op: Op) -> Op:
    """A factor before it was reshaped."""
    while op.kind in SAME_NUMBERS and op.inputs and not op.fresh:
        op = flow[op.inputs[0]]
    return op


def _unread(situation: Situation, boot: Bootstrap) -> Flag | None:
    """Zeros and ones in the functions around the target that no statement does anything with."""
    op = boot.meets
    around = {
        (s.file, s.function) for s in (op.site, boot.residual.site, *op.callers, *boot.residual.callers) if s
    }
    for flag in situation.evidence.flags:
        own = flag.name.rpartition(".")[2]
        if own.startswith("_") or (flag.site.file, flag.site.function) not in around:
            continue
        if not is_read(flag.site.file, flag.site.line, flag.name):
            return flag
    return None
