"""backward-twice: a graph that was already freed is walked again."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="backward-twice",
    family="wrong",
    summary="the graph was freed by one `backward` and is walked again by the next",
    what="A value was computed once, kept, and used in the loss of several updates: a temperature, a hidden "
    "state, a target. PyTorch only: a TensorFlow tape that is asked twice is `outside-tape`.",
    why="`backward` frees the graph that it walks. The next one walks into the freed part and stops with "
    '"Trying to backward through the graph a second time". The message does not say which value it is.',
    bad="""\
alpha = log_alpha.exp()
for batch in batches:
    alpha_loss = -(alpha * (log_prob(batch).detach() + target_entropy)).mean()
    alpha_opt.zero_grad()
    alpha_loss.backward()  # fails in the second round
    alpha_opt.step()""",
    good="""\
for batch in batches:
    alpha = log_alpha.exp()
    alpha_loss = -(alpha * (log_prob(batch).detach() + target_entropy)).mean()
    alpha_opt.zero_grad()
    alpha_loss.backward()
    alpha_opt.step()""",
    use_instead="Compute the value anew in each update. A hidden state that is carried over: cut it between "
    "the updates, `h = h.detach()`.",
    avoid="`retain_graph=True` keeps every graph alive: memory grows, and the next error is an in-place one.",
    site="what kept the old graph alive, or the second `backward`",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardTwice(Cause):
    """A value of an earlier update is differentiated again; its line is the site."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    backward: Site | None = None  # the call that failed
    op: str = ""  # what made the value, where its line is not known
    again: bool = False  # the same loss is differentiated twice; the site is the second call


def phrase(cause: BackwardTwice) -> Finding:
    """Put a graph that is walked twice into words."""
    if cause.again:
        return _again(cause)
    value, here = words.source(cause) or cause.op, cause.dialect
    kept = words.code(value, 48) if value else "a value of an earlier update"
    way = f", on its way to {words.who(cause)}" if cause.subjects else ""
    return words.say(
        cause,
        title=f"{here.differentiate} runs a second time through the graph of {kept.strip('`')}",
        why=f"{kept} belongs to an earlier update, whose `{here.differentiate}` has used its graph up; the "
        f"next one{words.near(cause.backward, cause.site)} walks into it again{way}.",
        fix=_fix(cause, value, kept),
        avoid="`retain_graph=True`: memory grows with each update, and the next error is an in-place one",
    )


def _again(cause: BackwardTwice) -> Finding:
    here = cause.dialect.differentiate
    return words.say(
        cause,
        title=f"{here} runs a second time for the same loss",
        why=f"The loss{words.near(cause.loss, cause.site)} has been differentiated already: the first "
        f"`{here}` has used its graph up.",
        fix=f"leave one of the two out; in a loop, compute the loss anew before each `{here}`",
        avoid="`retain_graph=True`: the same gradients are added a second time",
    )


def _fix(cause: BackwardTwice, value: str, kept: str) -> str:
    state = rewrite.carried(value)
    if state:
        new = f"`{state} = {cause.dialect.stopped(state)}`"
        return f"cut what is carried over, each part of it: {new} between two updates"
    made, what = rewrite.given(value)
    anew = f"compute it anew in each update: move {kept}, and all that it needs, to where the loss is made"
    if not made:
        return anew
    constant = f"`{made} = {cause.dialect.stopped(rewrite.bracketed(what))}`"
    return f"{anew}; or, if it is what the rollout left (old log-probabilities, values), {constant}"


RULE = Rule(PAGE, phrase, BackwardTwice)
