"""Gradients that nobody applies, and losses that only pretend to have one."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.model import Backward, Confidence, Severity, Site, Step
from whygrad.rules.attribution.situation import Situation
from whygrad.rules.cause import Cause


def no_step(situation: Situation) -> Iterator[Cause]:
    """An optimizer that never steps, or steps with a learning rate of zero."""
    evidence = situation.evidence
    moved = {k for o in evidence.optimizers.values() if o.steps for k in o.held}
    for optimizer in evidence.optimizers.values():
        members = situation.parameters(optimizer.held)
        if optimizer.lr_always_zero and optimizer.steps >= 3:
            yield Cause(
                "no-step",
                optimizer.made,
                members,
                (Step(optimizer.name, optimizer.made), Step("learning rate 0", optimizer.made, cut=True)),
                {"kind": "lr-zero"},
                optimizer=optimizer.name,
                first_update=1,
                updates=optimizer.steps,
            )
        reaching = [b for b in situation.backwards if b.reached & optimizer.held and not b.error]
        if optimizer.steps or sum(b.runs for b in reaching) < 2 or optimizer.held & moved:
            continue
        if any(p.written for p in members) or not any(p.trainable for p in members):
            continue
        if evidence.running or not evidence.finished:
            continue  # it may still be about to step
        last = reaching[-1]
        steps = (
            Step(members[0].name, members[0].made[0] if members[0].made else None),
            Step("gets a gradient", last.site),
            Step(f"{optimizer.name}.step() is never called", optimizer.made, cut=True),
        )
        yield Cause(
            "no-step",
            last.site,
            members,
            steps,
            {"kind": "never-stepped"},
            optimizer=optimizer.name,
            loss=_loss(last),
            updates=len(reaching),
        )


def fake_root(situation: Situation, real: list[Cause]) -> Iterator[Cause]:
    """``loss.requires_grad = True``: backward runs, and nothing stands behind the loss."""
    done = set()
    for backward in situation.backwards:
        for number in backward.roots:
            root = backward.flow[number]
            pretends = root.name == "requires_grad_" or (root.fresh and root.carries)
            if not pretends or root.site in done or backward.error:
                continue
            done.add(root.site)
            causes = [c for c in real if c.subjects and not c.masked]
            subjects = causes[0].subjects if causes else ()
            if not subjects:
                continue
            details = {
                "real": causes[0].rule,
                "real_line": str(causes[0].site.line) if causes[0].site else "",
            }
            steps = (*causes[0].chain, Step(root.site.code if root.site else root.name, root.site))
            yield Cause(
                "fake-root",
                root.site,
                subjects,
                steps,
                details,
                severity=Severity.ERROR,
                confidence=Confidence.CERTAIN,
                optimizer=causes[0].optimizer,
                loss=root.site,
                first_update=causes[0].first_update,
                updates=causes[0].updates,
            )


def _loss(backward: Backward) -> Site | None:
    return backward.flow[backward.roots[0]].site
