"""fake-root: ``loss.requires_grad = True`` silences the error, and nothing learns."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="fake-root",
    family="missing",
    summary="`loss.requires_grad = True` silences the error: `backward` runs and nothing learns",
    what="`requires_grad` was switched on for a loss, or another value, that had already lost its history.",
    why="It makes that value a new leaf. `backward` starts there and ends there: no error any more, and no "
    "gradient for any parameter. The real cut is somewhere before.",
    bad="""\
log_prob = dist.log_prob(action).detach()
loss = -(log_prob * advantage).mean()
loss.requires_grad = True
loss.backward()  # runs, and reaches nothing""",
    good="""\
log_prob = dist.log_prob(action)
loss = -(log_prob * advantage).mean()
loss.backward()""",
    use_instead="Delete the line and repair the real cut, which the finding names. A loss that is built from "
    "parameters requires grad by itself.",
    avoid="Keeping the line to be safe: it would hide the next cut, too.",
    site="that line; the real cut is in the chain",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeRoot(Cause):
    """A value without history was made a leaf, so that it can be differentiated."""

    rule: ClassVar[str] = PAGE.slug
    real: Cause | None = None  # why it has no history


def phrase(cause: FakeRoot) -> Finding:
    """Put a silenced error into words."""
    here, real = cause.dialect, cause.real
    what, fix = here.pretended(words.source(cause))
    line = words.near(real.site, cause.site) if real else ""
    named = f" The real cut{line} is {real.rule}." if real else ""
    repair = "differentiate the value itself: leave out the call that makes a new leaf of it"
    if real is not None:
        repair = f"{fix} and repair the real cut{line}: `whygrad explain {real.rule}`"
    return words.say(
        cause,
        title=f"{words.who(cause).does('gets', 'get')} no gradient, and {what} hides it",
        why=f"`{what}` makes a new leaf of a value without history: `{here.differentiate}` starts and ends "
        f"there.{named}",
        fix=repair,
        avoid="keeping the line to be safe: it would hide the next cut, too",
    )


RULE = Rule(PAGE, phrase, FakeRoot)
