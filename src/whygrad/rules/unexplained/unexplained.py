"""unexplained: a parameter does not learn, that was measured, and no rule knows why."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule


class Fate(StrEnum):
    """What was measured."""

    UNCOMPUTED = "uncomputed"  # no gradient, and nobody computes one
    ABSENT = "absent"  # no gradient in any step
    ZERO = "zero"  # a gradient of exactly zero
    UNMOVED = "unmoved"  # a gradient that is alive, and weights that do not move


PAGE = Page(
    slug="unexplained",
    family="missing",
    summary="a parameter gets no gradient, exactly zero, or does not move, and no rule knows why",
    what="An optimizer holds the parameter and steps (three times at least), and one of these was measured: "
    "it has no gradient in any step; its gradient is exactly zero in all updates that were looked at, or "
    "from some update on until the end; its gradient is alive and the steps do not move it. No other rule "
    "explains it. An error if nothing of a network learns, a warning if a part does not.",
    why="Optimizers do not complain: a step on nothing, or on zeros, does nothing. The losses print all the "
    "same.",
    bad="""\
action = actor(state)
action.register_hook(lambda gradient: gradient * 0)  # a guard that was left in
actor_loss = -critic(state, action).mean()""",
    good="""\
action = actor(state)
actor_loss = -critic(state, action).mean()""",
    use_instead="Look at what stands between the last place where gradient was alive and the parameter: a "
    "hook or an `autograd.Function` that returns zeros; a `backward()` that is missing. "
    "`whygrad.explain(loss, model)` asks the same of one loss.",
    avoid="a larger learning rate: zero times anything is zero",
    site="the last place where gradient was alive, else the loss, else the step",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unexplained(Cause):
    """The facts about parameters that do not learn."""

    rule: ClassVar[str] = PAGE.slug
    fate: Fate = Fate.ZERO
    step: Site | None = None  # where the optimizer steps
    looked: int = 0  # updates in which the gradient was looked at
    since: int = 0  # the update since which it is zero, if it was alive before
    alive: str = ""  # the parameter nearest to the loss whose gradient is alive
    suspects: tuple[str, ...] = ()  # operations on the way that can have a derivative of zero
    unseen: bool = False  # a part of the way was not recorded
    compiled: bool = False  # because it was compiled


def phrase(cause: Unexplained) -> Finding:
    """Put the facts into words."""
    return {Fate.UNCOMPUTED: _uncomputed, Fate.ZERO: _zero, Fate.UNMOVED: _unmoved}.get(cause.fate, _absent)(
        cause
    )


def _uncomputed(cause: Unexplained) -> Finding:
    here = cause.dialect
    return words.say(
        cause,
        title=f"{words.who(cause).does('gets', 'get')} no gradient: nothing is differentiated before a step",
        why=f"{_steps(cause)} without any gradient: no `{here.differentiate}` was seen before one of them.",
        fix=f"differentiate the loss before `{here.step}`{words.near(cause.step, cause.site)}",
    )


def _absent(cause: Unexplained) -> Finding:
    return words.say(
        cause,
        title=f"{words.who(cause).does('gets', 'get')} no gradient, and no rule knows why",
        why=" ".join(
            filter(
                None,
                (
                    f"{_steps(cause)} without a gradient for {words.who(cause).it}.",
                    _suspected(cause),
                    _blind(cause),
                ),
            )
        ),
        fix=_look(cause),
    )


def _zero(cause: Unexplained) -> Finding:
    subject = words.who(cause)
    since = f"since update {cause.since:,}" if cause.since else "in every update that was looked at"
    return words.say(
        cause,
        title=f"{subject.does('gets', 'get')} a gradient of exactly zero, {since}",
        why=" ".join(filter(None, (_measured(cause), _border(cause), _suspected(cause), _blind(cause)))),
        fix=_look(cause),
        avoid=PAGE.avoid,
    )


def _unmoved(cause: Unexplained) -> Finding:
    subject = words.who(cause)
    return words.say(
        cause,
        title=f"{subject.does('does', 'do')} not move, though {subject.their} gradient is alive",
        why=f"The gradient is not zero, and the weights were the same before and after every "
        f"`{cause.dialect.step}` that was measured.",
        fix="look at the learning rate of this group, at hooks on the step, at whoever writes the weights",
    )


def _steps(cause: Unexplained) -> str:
    return f"{cause.optimizer or 'The optimizer'} made {words.count(cause.updates, 'step')}"


def _measured(cause: Unexplained) -> str:
    looked = f"It was looked at in {words.count(cause.looked, 'update')}."
    return looked if not cause.since else f"Until then it was alive. {looked}"


def _border(cause: Unexplained) -> str:
    return f"The last place where it is alive, coming from the loss, is {cause.alive}." if cause.alive else ""


def _suspected(cause: Unexplained) -> str:
    if not cause.suspects:
        return ""
    return f"On the way there {'is' if len(cause.suspects) == 1 else 'are'} {words.listed(cause.suspects)}."


def _blind(cause: Unexplained) -> str:
    return "A part of the way was not seen." if cause.unseen else ""


def _look(cause: Unexplained) -> str:
    if cause.unseen and cause.compiled:
        return "run it once without compiling or transforming it: then the whole way is seen"
    begin = f"{cause.alive}" if cause.alive else "the loss"
    return (
        f"look at what stands between {begin} and {words.who(cause)}: a bound that is always reached, a "
        "factor of 0, a hook or a function of your own that returns zeros"
    )


RULE = Rule(PAGE, phrase, Unexplained)
