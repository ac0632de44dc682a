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
    summary="gradients are handed from one network to another by hand, and are piled up, cleared or dropped",
    what="A worker computes gradients with its own copy of a network, and the shared network is stepped "
    "with them, as in A3C. The worker's gradients are never cleared, or the shared ones are cleared after "
    "they were handed over; or they are handed over once, or not at all.",
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

Fate = Literal["piled up", "cleared", "came once", "dropped"]


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


def _came_once(cause: GradientHandover, who: str, local: str) -> tuple[str, str, str]:
    return (
        f"{who} is stepped with the same gradients again and again: {local} has handed them over once",
        f"`{cause.dialect.differentiate}`{words.near(cause.backward, cause.site)} computes new gradients in "
        f"{local}, and {who} still has those of the first round.",
        f"hand them over in every round, between `{cause.dialect.differentiate}` and the step, whether "
        f"{who} has gradients already or not",
    )


def _dropped(cause: GradientHandover, who: str, local: str) -> tuple[str, str, str]:
    return (
        f"{who} gets no gradient: those of {local} are not handed over",
        f"{local} is a copy of {who}, which the loss never asks. `{cause.dialect.differentiate}`"
        f"{words.near(cause.backward, cause.site)} writes into {local}, and "
        f"{cause.optimizer or 'the optimizer'} steps on {who}, which stays as it is.",
        f"between `{cause.dialect.differentiate}` and the step, give each parameter of {who} the gradient of "
        f"its copy{_loop(who, local)}",
    )


def _loop(who: str, local: str) -> str:
    """As it is written, where both have a name."""
    if not all(part.isidentifier() for name in (who, local) for part in name.split(".")):
        return ""
    return f": `for p, copy in zip({who}.parameters(), {local}.parameters()): p.grad = copy.grad`"


_SAID = {"piled up": _piled_up, "cleared": _cleared, "came once": _came_once, "dropped": _dropped}

RULE = Rule(PAGE, phrase, GradientHandover)
