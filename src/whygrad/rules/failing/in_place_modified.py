"""in-place-modified: a value that ``backward`` needs was overwritten."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
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


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlaceModified(Cause):
    """Something wrote into a value between its use and the call that differentiates; the site is that."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    writer: str = ""  # critic_opt.step(), add_
    leaf: bool = False  # weights themselves, written while gradients are on
    by_step: bool = False  # the writer is a step of an optimizer
    value: str = ""  # what was overwritten
    forward: Site | None = None
    backward: Site | None = None


def phrase(cause: InPlaceModified) -> Finding:
    """Put an overwritten value into words."""
    if cause.leaf:
        return _leaf(cause)
    writer, value, here = _writer(cause), _value(cause), cause.dialect
    forward, backward = (words.near(site, cause.site) for site in (cause.forward, cause.backward))
    return words.say(
        cause,
        title=f"{value} is overwritten by {writer} before its {here.differentiate} has run",
        why=f"The forward pass{forward} used {value}; `{writer}` then wrote into it; the "
        f"`{here.differentiate}`{backward} still needs what was there before.",
        fix=_order(cause, writer, forward, backward) if cause.by_step else _copy(words.source(cause)),
        avoid=_STEP_AVOID if cause.by_step else _COPY_AVOID,
    )


def _leaf(cause: InPlaceModified) -> Finding:
    who = words.who(cause) if cause.subjects else "the weights"
    return words.say(
        cause,
        title=f"{who} cannot be written in place while gradients are recorded",
        why="The write would itself be a step of the computation that is differentiated, and what it "
        "overwrites is where gradients arrive. PyTorch refuses.",
        fix="put the loop that writes under `with torch.no_grad():`",
    )


def _writer(cause: InPlaceModified) -> str:
    """The user's own words, where they are short; an optimizer's step is called by its name."""
    code = words.source(cause)
    short = code if code and len(code) <= 40 and not cause.by_step else ""
    return short or cause.writer or "an in-place operation"


def _value(cause: InPlaceModified) -> str:
    """The variable that was overwritten, where a line gives it one; else what made it."""
    written = rewrite.written_element(words.source(cause))
    made = rewrite.assigned(rewrite.uncommented(cause.forward.code)) if cause.forward else ""
    if not cause.by_step and (written or made):
        return written or made
    return cause.value or (str(words.who(cause)) if cause.subjects else "a value")


def _order(cause: InPlaceModified, writer: str, forward: str, backward: str) -> str:
    return (
        f"finish one update before the next begins: move the forward pass{forward} below `{writer}`, or its "
        f"`{cause.dialect.differentiate}`{backward} above it"
    )


def _copy(code: str) -> str:
    new, whole = rewrite.out_of_place(code), rewrite.written_element(code)
    if whole:
        return f"write into a copy: `{whole} = {whole}.clone()` before this line"
    return f"write {words.code(new)}" if new else "write it out of place: `x = x + y` instead of `x += y`"


RULE = Rule(PAGE, phrase, InPlaceModified)
