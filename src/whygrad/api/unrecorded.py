"""What can be said without a recording: who gets no gradient is certain, why is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whygrad.model import Confidence, Finding, Mark, Parameter, Step
from whygrad.rules import words
from whygrad.rules.judging import in_context
from whygrad.rules.paths.loss_independent import LossIndependent

if TYPE_CHECKING:
    from whygrad.frameworks.torch.asking import Answer

_FIX = "put `with whygrad.watching():` around the forward pass and ask again inside: that gives the line"


def finding(answer: Answer, members: Sequence[Parameter]) -> Finding:
    """These parameters get nothing from the loss; the cause was not recorded."""
    first = members[0]
    steps = (
        Step(first.name, first.made[0] if first.made else None),
        Step("the way was not recorded", None, mark=Mark.GAP),
        Step(answer.site.code if answer.site else "the loss", answer.site),
    )
    unsure = LossIndependent(
        site=answer.site, subjects=tuple(members), chain=steps, confidence=Confidence.POSSIBLE
    )
    cause = in_context(answer.evidence, unsure)
    who = words.who(cause)
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: this loss does not lead back to {who.it}",
        why=f"{_reached(answer)} The cause was not recorded: a cut (`.detach()`, `no_grad`, `.item()`, "
        f"`argmax`) and a loss that never used {who} look the same from here.",
        fix=_FIX,
    )


def _reached(answer: Answer) -> str:
    """What autograd's graph of the loss does lead to."""
    (update,) = answer.evidence.updates
    (backward,) = update.backwards
    known = answer.evidence.parameters
    networks = list(dict.fromkeys(known[k].network for k in sorted(backward.reached) if k in known))
    if not networks:
        return "The loss carries no gradient at all."
    return f"Autograd's graph of this loss leads to {words.listed(networks)} only."
