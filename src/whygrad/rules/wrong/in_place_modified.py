"""in-place-modified: a value that ``backward`` needs was overwritten.

Reads the details ``writer`` (``critic_opt.step()``, ``add_``), ``forward_line``, ``backward_line`` and
``value``.
"""

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="in-place-modified",
    family="wrong",
    summary="a value that `backward` needs was overwritten, most often by a `step()` in between",
    what="Between a forward pass and its `backward`, something wrote into a value that the `backward` needs: "
    "an optimizer's `step()`, which changes weights in place, or an operation such as `+=` or `relu_`."
    " PyTorch only: TensorFlow tensors do not change.",
    why='The gradient would be computed with the wrong numbers, so PyTorch stops: "modified by an inplace '
    'operation". It names the tensor that was hit, not the line that wrote.',
    bad="""\
policy_loss = -critic(state, actor(state)).mean()
critic_opt.zero_grad()
critic_loss.backward()
critic_opt.step()  # changes the weights that policy_loss was computed with
actor_opt.zero_grad()
policy_loss.backward()
actor_opt.step()""",
    good="""\
critic_opt.zero_grad()
critic_loss.backward()
critic_opt.step()
policy_loss = -critic(state, actor(state)).mean()
actor_opt.zero_grad()
policy_loss.backward()
actor_opt.step()""",
    use_instead="Finish one update before the next begins: forward, `backward`, `step`, then the next "
    "forward pass. Write out of place (`x = x + y`) what a loss still needs.",
    avoid="`.detach()` on the critic's value ends the error and the actor's learning with it; "
    "`retain_graph=True` changes nothing; an old PyTorch computes wrong gradients in silence.",
    site="the writer: the `step()` or the in-place operation; forward and backward are in the chain",
)

_STEP_AVOID = (
    "`.detach()`: it ends the error, and the learning with it; `retain_graph=True` changes nothing, and an "
    "old PyTorch computes wrong gradients in silence"
)
_COPY_AVOID = "`.data`: it hides the write from PyTorch, and the gradient is wrong in silence"


def phrase(cause: Cause) -> Finding:
    """Put an overwritten value into words."""
    details = cause.details
    writer = details.get("writer") or "an in-place operation"
    value = details.get("value") or (str(words.who(cause)) if cause.subjects else "a value")
    forward, backward = (words.at(details.get(f"{end}_line", "")) for end in ("forward", "backward"))
    steps, code = writer.endswith("step()"), words.source(cause)
    if not steps and code and len(code) <= 40:
        writer = code
    return words.say(
        cause,
        title=f"{value} is overwritten by {writer} before its backward has run",
        why=f"The forward pass{forward} used {value}; `{writer}` then wrote into it; the "
        f"`backward`{backward} still needs what was there before.",
        fix=_order(writer, forward, backward) if steps else _copy(code),
        avoid=_STEP_AVOID if steps else _COPY_AVOID,
    )


def _order(writer: str, forward: str, backward: str) -> str:
    return (
        f"finish one update before the next begins: move the forward pass{forward} below `{writer}`, or its "
        f"`backward`{backward} above it"
    )


def _copy(code: str) -> str:
    new = rewrite.out_of_place(code)
    return f"write {words.code(new)}" if new else "write it out of place: `x = x + y` instead of `x += y`"


RULE = Rule(PAGE, phrase)
