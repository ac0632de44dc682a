"""fake-root: ``loss.requires_grad = True`` silences the error, and nothing learns.

Reads the details ``real`` (the slug of the real cut) and ``real_line``.
"""

import re

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


def phrase(cause: Cause) -> Finding:
    """Put a silenced error into words."""
    who, code = words.who(cause), words.source(cause)
    real, line = cause.details.get("real", ""), cause.details.get("real_line", "")
    what, fix = _silencer(code)
    backward = "backward"
    if words.on_tensorflow(cause):
        what, fix, backward = "a new tf.Variable", "leave the `tf.Variable` out", "tape.gradient"
    cut = f" The real cut{words.at(line)} is {real}." if real else ""
    repair = f"repair the real cut{words.at(line)}" + (f": `whygrad explain {real}`" if real else "")
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient, and {what} hides it",
        why=f"`{what}` makes a new leaf of a value without history: `{backward}` starts and ends there.{cut}",
        fix=f"{fix} and {repair}",
        avoid="keeping the line to be safe: it would hide the next cut, too",
    )


def _silencer(code: str) -> tuple[str, str]:
    """What silenced the error, in few words, and how to get rid of it."""
    if re.search(r"[,(]\s*requires_grad\s*=\s*True", code):
        maker = re.search(r"([\w.]*(?:tensor|Tensor|Variable|Parameter))\(", code)
        return f"{maker[1] if maker else ''}(..., requires_grad=True)", "leave `requires_grad=True` out"
    return (code if code and len(code) <= 48 else "requires_grad = True"), "delete this line"


RULE = Rule(PAGE, phrase)
