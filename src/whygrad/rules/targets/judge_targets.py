"""Bootstrap targets that are differentiated, and target networks that an optimizer is given."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.bootstraps import Bootstrap
from whygrad.flow.paths import ancestors, living_values
from whygrad.flow.roles import Target, pairs, targets
from whygrad.flow.situation import Situation
from whygrad.model import Backward, Confidence, Mark, Optimizer, Severity, Site, Step
from whygrad.rules.cause import Cause
from whygrad.rules.stepped import stepped
from whygrad.rules.targets.residual_gradients import may_be_meant
from whygrad.rules.targets.target_in_optimizer import TargetInOptimizer
from whygrad.rules.targets.target_leak import TargetLeak


def leaks(situation: Situation) -> Iterator[Cause]:
    """The target of a regression is differentiated, down to parameters that somebody trains."""
    found: dict[Site | None, tuple[Backward, Bootstrap, frozenset[int], bool]] = {}
    for backward in situation.backwards:
        for boot in situation.bootstraps(backward) if not backward.error else ():
            if not boot.value.live or _in_turn(situation, backward, boot):
                continue
            reached = _living(backward, boot.value.op)
            if backward.tape:
                reached &= backward.wanted  # a tape computes nothing that it was not asked for
            applied = reached & backward.applied
            known = found.get(boot.meets.site)
            if applied or (reached - situation.holders.keys() and known is None):
                found[boot.meets.site] = (backward, boot, applied or reached, bool(applied))
    for site, (backward, boot, keys, harmful) in found.items():
        yield _leak(situation, site, backward, boot, keys, harmful)


def _in_turn(situation: Situation, backward: Backward, boot: Bootstrap) -> bool:
    """A residual gradient on purpose: here the prediction stands still, in another term the target does.

    With this term alone, the wrong side was stopped.
    """
    if any(p.live for p in boot.predictions):
        return False
    predicted = predicting(situation, backward, boot)
    together = [u.backwards for u in situation.evidence.updates if any(b is backward for b in u.backwards)]
    for other in {id(b): b for b in (backward, *(b for group in together for b in group))}.values():
        for term in situation.bootstraps(other):
            trained = any(p.live for p in term.predictions) and not term.value.live
            if trained and predicted & predicting(situation, other, term):
                return True
    return False


def predicting(situation: Situation, backward: Backward, boot: Bootstrap) -> frozenset[int]:
    """The parameters that a prediction comes from, by whatever way."""
    parts = situation.parts(backward)
    return frozenset(key for p in boot.predictions for key in parts.behind(p.op))


def _living(backward: Backward, op: int) -> frozenset[int]:
    values = (backward.flow[n].parameter for n in living_values(backward.flow, [op]))
    return frozenset(k for k in values if k is not None)


def _leak(
    situation: Situation,
    site: Site | None,
    backward: Backward,
    boot: Bootstrap,
    keys: frozenset[int],
    harmful: bool,
) -> Cause:
    value = backward.flow[boot.value.op].site
    meant = harmful and may_be_meant(situation, backward, boot)
    return TargetLeak(
        site=site,
        chain=(
            Step.at(value, "the value of the next state"),
            Step.at(site, "the target", mark=Mark.LEAK),
            Step.at(boot.residual.site, boot.residual.name),
        ),
        severity=Severity.NOTE if not harmful else Severity.WARNING if meant else Severity.ERROR,
        confidence=Confidence.LIKELY if meant else Confidence.CERTAIN,
        residual=meant,
        loss=boot.residual.site,
        harmless=not harmful,
        asked=bool(keys & backward.wanted),
        prediction_cut=not any(p.live for p in boot.predictions),
        value=value,
        mixed=_mixed(backward, site, boot),
        **stepped(situation, keys),
    )


def _mixed(backward: Backward, site: Site | None, boot: Bootstrap) -> bool:
    """Does one line compute the target and compare it with the prediction?"""
    flow, predicted = backward.flow, {p.op for p in boot.predictions}
    here = [op.id for op in flow.ops.values() if site is not None and op.site == site]
    return any(boot.value.op in (behind := ancestors(flow, op)) and predicted & set(behind) for op in here)


def target_networks(situation: Situation) -> list[Target]:
    """The networks that bootstrap values come from and that are not regressed on them themselves."""
    backwards = [b for b in situation.backwards if not b.error]
    return targets((situation.parts(b), boot) for b in backwards for boot in situation.bootstraps(b))


def in_optimizer(situation: Situation) -> Iterator[Cause]:
    """An optimizer holds what is copied from an online network to compute targets with."""
    copied = pairs(situation.evidence.copies)
    for optimizer in situation.evidence.optimizers.values():
        keys: set[int] = set()
        if not optimizer.steps:
            continue  # made with the network, and never used
        for target in target_networks(situation):
            for key in target.keys & optimizer.held:
                sources = copied.get(key, set())
                if sources & target.online or any(s in situation.holders for s in sources):
                    keys.add(key)
        given = {other for u in situation.updates(optimizer) for other, _ in u.crossed}  # by mistake
        keys = {k for k in keys - given if situation.evidence.parameters[k].trainable}
        silent = situation.evidence.always_absent.get(optimizer.key, frozenset())
        moved = keys - silent  # without a gradient, a step passes a parameter by
        if keys:
            site = _list_site(situation, optimizer)
            yield TargetInOptimizer(
                site=site,
                subjects=situation.parameters(moved or keys),
                chain=(Step.at(site, f"{optimizer.name} is made", mark=Mark.HERE),),
                severity=Severity.ERROR if moved else Severity.NOTE,
                optimizer=optimizer.name,
                first_update=1,
                updates=optimizer.steps,
                harmless=not moved,
            )


def _list_site(situation: Situation, optimizer: Optimizer) -> Site | None:
    """Where an optimizer is told what to train: when it is made, or with each step."""
    updates = situation.updates(optimizer)
    given = [u.site for u in updates if any(b.tape for b in u.backwards)]
    return given[-1] if given else optimizer.made
