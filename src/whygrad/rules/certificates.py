"""What is right, and why: for people who ask whether their ``detach`` belongs there."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.few import few_per_line
from whygrad.flow.paths import ancestors, is_detach, living_values
from whygrad.flow.ratios import compared
from whygrad.flow.scores import is_probability, scored
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Flow, Kind, Note, Op, Parameter, Site
from whygrad.model.kinds import EXTREMES, SAME_NUMBERS
from whygrad.rules.dialects import dialect_of
from whygrad.rules.paths.cuts import spoken
from whygrad.rules.words import listed, place

_MOST = 5
_NEAR = 6
_RECENT = 8  # the last backwards are enough to say what is right


def certificates(situation: Situation) -> tuple[Note, ...]:
    """The most instructive first; one per line."""
    found: dict[tuple[Site | None, str], Note] = {}
    for question in (_ones, _targets, _advantages, _ratios, _passed_through, _accumulation):
        for note in question(situation):
            found.setdefault((note.site, note.text.partition(";")[0]), note)
    return tuple(found.values())[:_MOST]


def _note(text: str, site: Site | None) -> Note:
    return Note(text, site, "certificate")


def _spoken(situation: Situation, op: Op) -> str:
    return spoken(op, dialect_of(situation.evidence.framework))


def _targets(situation: Situation) -> Iterator[Note]:
    """The cut that keeps a bootstrap target constant."""
    for backward in situation.backwards[-_RECENT:]:
        for boot in {b.meets.site: b for b in situation.bootstraps(backward)}.values():
            if boot.value.live or not any(p.live for p in boot.predictions):
                continue
            cut = _cut(situation, backward, boot.value.op, boot.residual.id)
            learns = _learners(situation, backward, [p.op for p in boot.predictions if p.live])
            if cut is not None and learns:
                what, site = cut
                yield _note(
                    f"{what} is right: the target must not be differentiated; {learns} still "
                    f"{'learn' if ' and ' in learns else 'learns'} from the loss at "
                    f"{place(boot.residual.site)}",
                    site,
                )


def _cut(situation: Situation, backward: Backward, value: int, end: int) -> tuple[str, Site | None] | None:
    """What keeps gradient from flowing between a value and the loss, in words."""
    flow = situation.parts(backward).flow
    op = flow[value]
    if op.block is not None:
        return _blocked(op)
    between = [flow[n] for n in ancestors(flow, end)]
    cuts = sorted((o for o in between if is_detach(o) or o.block is not None), key=lambda o: o.time)
    for cut in few_per_line(cuts):
        if value in ancestors(flow, cut.id):
            written = f"`{_spoken(situation, cut)}` at {place(cut.site)}"
            return _blocked(cut) if cut.block else (written, cut.site)
    return None


def _blocked(op: Op) -> tuple[str, Site | None]:
    """Computed under ``no_grad``, or where a tape does not look."""
    assert op.block is not None
    if op.block.tape:
        where = {"before": "before the tape opens", "after": "after the tape is closed"}.get(op.block.kind)
        return f"computing it {where or 'outside of the tape'}, at {place(op.site)},", op.site
    return f"`{op.block.kind.lstrip('@')}` at {place(op.block.site)}", op.block.site


def _learners(situation: Situation, backward: Backward, ops: list[int]) -> str:
    keys: set[int] = set()
    for op in ops:
        keys |= {
            k for n in living_values(backward.flow, [op]) if (k := backward.flow[n].parameter) is not None
        }
    names = dict.fromkeys(p.network for p in situation.parameters(keys & backward.applied))
    return listed(list(names)) if names else ""


def _advantages(situation: Situation) -> Iterator[Note]:
    """A value that weighs a log-probability, and is a constant there."""
    for backward, score, factor in _products(situation):
        if factor.carries or not situation.parts(backward).behind(factor.id):
            continue
        cut = _nearest_detach(situation, backward, factor)
        policy = _learners(situation, backward, [score.id])
        values = _valued(situation, backward, score, factor)
        if cut is not None and policy and _is_weight(backward.flow, cut):
            yield _note(
                f"`{_spoken(situation, cut)}` at {place(cut.site)} is right: an importance weight is a "
                f"constant; the log-probability beside it, at {place(score.site)}, carries the gradient",
                cut.site,
            )
        elif cut is not None and policy and all(p.shape in ((), (1,)) for p in values) and values:
            yield _note(
                f"`{_spoken(situation, cut)}` at {place(cut.site)} is right: the policy loss must not train "
                f"{values[0].network}, which has a loss of its own",
                cut.site,
            )
        elif cut is not None and policy and values:
            names = listed(list(dict.fromkeys(p.network for p in values)))
            learn = "learn from their own losses" if " and " in names else "learns from its own loss"
            yield _note(
                f"`{_spoken(situation, cut)}` at {place(cut.site)} is right: the policy loss must not train "
                f"the value in its advantage; {names} still {learn}",
                cut.site,
            )


def _valued(situation: Situation, backward: Backward, score: Op, factor: Op) -> tuple[Parameter, ...]:
    """Who gives the value in an advantage: not the policy itself, as long as there is somebody else."""
    keys = situation.parts(backward).behind(factor.id) & situation.holders.keys()
    own = {backward.flow[n].parameter for n in living_values(backward.flow, [score.id])}
    return situation.parameters((keys - own) or keys)


def _is_weight(flow: Flow, cut: Op) -> bool:
    """Is it a probability, or the ratio of two, that was cut off?"""
    source = cut.inputs[0]
    if is_probability(flow, source, squashed=True):
        return True
    for _ in range(_NEAR):
        op = flow[source]
        if op.kind is Kind.EXP:
            return scored(flow, op.id)
        if op.kind not in (Kind.BOUND, *EXTREMES, *SAME_NUMBERS) or not op.inputs:
            return False
        source = op.inputs[0]
    return False


def _products(situation: Situation) -> Iterator[tuple[Backward, Op, Op]]:
    """Log-probabilities with what weighs them."""
    for backward in situation.backwards[-_RECENT:]:
        for op in few_per_line(backward.flow[n] for n in sorted(situation.living(backward))):
            if op.kind is not Kind.MULTIPLY or len(op.inputs) != 2 or op.api:
                continue
            one, two = (backward.flow[i] for i in op.inputs)
            for score, factor in ((one, two), (two, one)):
                if score.carries and not factor.carries and scored(backward.flow, score.id):
                    yield backward, score, factor


def _nearest_detach(situation: Situation, backward: Backward, factor: Op) -> Op | None:
    cuts = [o for n in ancestors(backward.flow, factor.id) if is_detach(o := backward.flow[n])]
    alive = [o for o in cuts if any(backward.flow[i].carries for i in o.inputs)]
    return max(alive, key=lambda o: o.time, default=None)


def _ratios(situation: Situation) -> Iterator[Note]:
    """The old log-probability in a ratio is a constant."""
    for backward in situation.backwards[-_RECENT:]:
        for op in few_per_line(backward.flow[n] for n in sorted(situation.living(backward))):
            if op.kind is not Kind.SUBTRACT or len(op.inputs) != 2 or op.api:
                continue
            new, old = (backward.flow[i] for i in op.inputs)
            if not new.carries or old.carries or not scored(backward.flow, new.id):
                continue
            if not _is_exponent(backward.flow, op):
                continue
            cut = _cut(situation, backward, old.id, old.id)
            if cut is not None and situation.parts(backward).behind(old.id):
                what, site = cut
                yield _note(
                    f"{what} is right: the old log-probability is a constant; the new "
                    f"one at "
                    f"{place(op.site)} carries the gradient",
                    site,
                )


def _ones(situation: Situation) -> Iterator[Note]:
    """GRPO with one update for each batch: a loss of zero by construction, whose gradient is none."""
    for backward in situation.backwards[-_RECENT:]:
        flow = backward.flow
        if not any(op.groups for op in flow.ops.values()):
            continue
        for op in few_per_line(flow[n] for n in sorted(situation.living(backward))):
            alive = [flow[i] for i in op.inputs if flow[i].carries]
            if op.kind is not Kind.MULTIPLY or len(op.inputs) != 2 or len(alive) != 1:
                continue
            factor = next(i for i in op.inputs if i != alive[0].id)
            groups = [flow[n].groups for n in ancestors(flow, factor) if flow[n].groups]
            difference = compared(flow, alive[0])
            if (
                difference is not alive[0]
                and any(g[0] < g[1] for g in groups)
                and _of_itself(flow, difference)
            ):
                policy = _learners(situation, backward, [difference.id])
                yield _note(
                    f"a loss of 0 at {place(op.site)} is right: {place(difference.site)} compares a value "
                    f"with its own detached copy, so that the ratio is 1, and the advantages of a group add "
                    f"up to 0; the gradient of {policy} is that of the log-probabilities, and is not 0",
                    op.site,
                )


def _of_itself(flow: Flow, difference: Op) -> bool:
    """``new - new.detach()``."""
    if difference.kind is not Kind.SUBTRACT or len(difference.inputs) != 2:
        return False
    new, old = difference.inputs
    return is_detach(flow[old]) and flow[old].inputs == (new,)


def _is_exponent(flow: Flow, op: Op) -> bool:
    """Does ``exp`` take it, clamped perhaps?"""
    takers = _takers(flow, {op.id})
    takers += _takers(flow, {other.id for other in takers if other.kind is Kind.BOUND})
    return any(other.kind is Kind.EXP for other in takers)


def _takers(flow: Flow, values: set[int]) -> list[Op]:
    return [op for op in flow.ops.values() if not values.isdisjoint(op.inputs)]


def _passed_through(situation: Situation) -> Iterator[Note]:
    """A loss that goes through another optimizer's network, and whose traces are cleared there."""
    for optimizer in situation.evidence.optimizers.values():
        for update in situation.updates(optimizer):
            for backward in update.backwards:
                left = backward.reached - optimizer.held - backward.applied
                others = [o for k in left for o in situation.holders.get(k, ()) if o.key != optimizer.key]
                clears = [
                    c for c in situation.evidence.clears if c.parameters & left and c.time > backward.time
                ]
                if not others or not clears or backward.follower != optimizer.key:
                    continue
                names = listed(list(dict.fromkeys(p.network for p in situation.parameters(left))))
                trains = _learners(situation, backward, list(backward.roots))
                site = clears[0].site
                yield _note(
                    f"`zero_grad()` at {place(site)} is right where it is: the loss at "
                    f"{place(backward.flow[backward.roots[0]].site)} trains {trains} through {names}, and "
                    f"what it "
                    f"leaves in {names} is cleared before {others[0].name} steps",
                    site,
                )


def _accumulation(situation: Situation) -> Iterator[Note]:
    """Several backwards, one step, one clearing."""
    for optimizer in situation.evidence.optimizers.values():
        updates = [u for u in situation.updates(optimizer) if len(u.backwards) > 1]
        for update in updates[:1]:
            lines = {b.site for b in update.backwards}
            if len(lines) == 1 and optimizer.clears:
                site = update.backwards[0].site
                yield _note(
                    f"`backward()` at {place(site)} runs {len(update.backwards)} times per step, which is "
                    f"right: "
                    f"the gradients add up until {optimizer.name} has used them, and are cleared then",
                    site,
                )
