"""gradient-handover: gradients of one network are put into another by hand, and lost or piled up."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="gradient-handover",
    family="wrong",
    summary="gradients are handed from one network to another by hand, and are piled up or cleared",
    what="A worker computes gradients with its own copy of a network, and the shared network is stepped "
    "with them, as in A3C. The worker's gradients are never cleared, or the shared ones are cleared after "
    "they were handed over.",
    why="The optimizer steps on nothing, or on the sum of all gradients that the worker has ever computed. "
    "Nothing fails: a step without gradients does nothing.",
    bad="""\
local.load_state_dict(shared.state_dict())
loss = worker_loss(local)
loss.backward()
for p, q in zip(local.parameters(), shared.parameters()):
    q.grad = p.grad
optimizer.step()  # local's gradients are still there in the next round""",
    good="""\
local.load_state_dict(shared.state_dict())
loss = worker_loss(local)
local.zero_grad()
loss.backward()
for p, q in zip(local.parameters(), shared.parameters()):
    q.grad = p.grad
optimizer.step()""",
    use_instead="In each round: clear the gradients of the network that computes them, `backward`, hand "
    "over, `step`, and "
    "nothing else in between.",
    avoid="`optimizer.zero_grad()`: it clears the shared network's gradients, not those of the worker.",
    site="the hand-over, or the call that clears what was handed over",
)

Fate = Literal["piled up", "cleared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientHandover(Cause):
    """Gradients that were computed with one network for another."""

    rule: ClassVar[str] = PAGE.slug
    by_network: ClassVar[bool] = True
    fate: Fate = "piled up"
    local: str = ""  # the network that computes them
    backward: Site | None = None
    handover: Site | None = None


def phrase(cause: GradientHandover) -> Finding:
    """Put lost gradients into words."""
    title, why, fix = _SAID[cause.fate](cause, str(words.who(cause)), cause.local or "the local network")
    return words.say(cause, title=title, why=why, fix=fix)


def _piled_up(cause: GradientHandover, who: str, local: str) -> tuple[str, str, str]:
    return (
        f"{who} is stepped with gradients that pile up in {local}",
        f"Each `{cause.dialect.differentiate}`{words.near(cause.backward, cause.site)} adds to the "
        f"gradients of {local}, "
        "which were handed over before and are cleared by nobody.",
        f"call `{local}.zero_grad()` before each `{cause.dialect.differentiate}`",
    )


def _cleared(cause: GradientHandover, who: str, local: str) -> tuple[str, str, str]:
    return (
        f"{who} gets no gradient: what {local} has handed over is cleared before the step",
        f"The gradients of {local} were put into {who}{words.near(cause.handover, cause.site)}, and "
        f"{words.code(words.source(cause) or 'zero_grad()')} takes them away again before "
        f"{cause.optimizer or 'the optimizer'} steps.",
        f"clear {local} before `{cause.dialect.differentiate}`, and nothing between the hand-over and the "
        "step",
    )


_SAID = {"piled up": _piled_up, "cleared": _cleared}

RULE = Rule(PAGE, phrase, GradientHandover)
