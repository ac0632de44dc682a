"""no-grad-block: the forward pass ran where gradients are off."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="no-grad-block",
    family="missing",
    summary="it was computed under `torch.no_grad`, `inference_mode` or `set_grad_enabled(False)`",
    what="The forward pass on the way to the loss ran where gradients are off: in a `torch.no_grad()` or "
    "`torch.inference_mode()` block, in a function decorated with one, after "
    "`torch.set_grad_enabled(False)`, or in a reentrant checkpoint none of whose inputs requires gradient.",
    why="Nothing is recorded there, so the results are constants. The block is often far away: around the "
    "whole loop, or on the helper that the rollout and the update share.",
    bad="""\
@torch.no_grad()
def q_values(state):
    return q_net(state)


loss = F.mse_loss(q_values(state).gather(1, action), target)
loss.backward()  # element 0 of tensors does not require grad""",
    good="""\
def q_values(state):
    return q_net(state)


with torch.no_grad():
    target = reward + gamma * target_net(next_state).max(1, keepdim=True).values
loss = F.mse_loss(q_values(state).gather(1, action), target)
loss.backward()""",
    use_instead="Keep the block around what must stay constant (rollouts, targets, evaluation) and run the "
    "forward pass of the loss outside of it. Use `no_grad` rather than `inference_mode` for rollout tensors "
    "that enter a loss later.",
    avoid="`loss.requires_grad = True` makes the error go away and nothing learns (see fake-root).",
    site="the operation on the parameter's path; the first line of the block is in the chain",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoGradBlock(Cause):
    """It was computed in a region that records nothing, which begins at the site."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    block: str = "torch.no_grad()"  # as one writes it, with the @ of a decorator
    inside: Site | None = None  # what ran there
    refused: bool = False  # PyTorch does not take a tensor that was made there, not even outside of it


def phrase(cause: NoGradBlock) -> Finding:
    """Put a forward pass without gradients into words."""
    if cause.refused:
        return _refused(cause)
    if "checkpoint(" in cause.block:
        return _checkpointed(cause)
    what = _inside(cause).replace("the forward", "The forward", 1) + words.near(cause.inside, cause.site)
    return words.say(
        cause,
        title=words.starved(cause, f"computed under {cause.block}"),
        why=f"{what} runs under `{cause.block}`: nothing is recorded, the result is a constant.",
        fix=_fix(cause),
        avoid=words.hiding(cause),
    )


def _checkpointed(cause: NoGradBlock) -> Finding:
    """Reentrant checkpoints run without gradients, and come back to it in ``backward`` if they are asked."""
    return words.say(
        cause,
        title=words.starved(cause, "a reentrant checkpoint whose inputs need no gradient"),
        why=f"`{cause.block}` runs its function without gradients and computes it again in `backward`; it is "
        "asked to only if one of the inputs requires a gradient, and here none does: data goes in.",
        fix="write `use_reentrant=False` in the call of `checkpoint`",
        avoid="`requires_grad_()` on the data: it works, and computes a gradient that nobody needs",
    )


def _refused(cause: NoGradBlock) -> Finding:
    return words.say(
        cause,
        title=f"{words.who(cause)} cannot learn from a tensor that was made under {cause.block}",
        why="A tensor that is born in inference mode can never take part in a backward pass, not even when "
        "the block has ended.",
        fix="use `torch.no_grad()` for the rollout; or `.clone()` the tensor, outside of the block, "
        "before it enters the loss",
        avoid="`torch.enable_grad()` around the update: the tensor stays an inference tensor",
    )


def _inside(cause: NoGradBlock) -> str:
    text = (cause.inside.code if cause.inside else "") or words.source(cause)
    switch = not text or "set_grad_enabled(" in text  # the switch itself: what came after it was not seen
    return "the forward pass" if switch else words.code(text)


def _fix(cause: NoGradBlock) -> str:
    block = cause.block
    if block.startswith("@"):
        function = cause.site.function if cause.site else ""
        on = f"`{function}`" if function and not function.startswith("<") else "the function"
        return f"take `{block}` off {on}; put `with torch.no_grad():` only around calls that must not train"
    if "set_grad_enabled" in block:
        return f"call `torch.set_grad_enabled(True)` before {_inside(cause)}, or use `with torch.no_grad():`"
    inside = cause.inside.code if cause.inside else ""
    if not inside or inside.startswith("return "):
        return f"call {words.who(cause)} outside of the `{block}` block"
    return f"move {_inside(cause)} out of the `{block}` block"


RULE = Rule(PAGE, phrase, NoGradBlock)
