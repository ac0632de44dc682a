"""zero-grad-before-step: the gradients are cleared between ``backward`` and ``step``."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="zero-grad-before-step",
    family="wrong",
    summary="gradients are cleared between `backward` and `step`",
    what="`zero_grad()` (or `p.grad = None`) runs after the `backward` and before the `step` that should "
    "use its gradients; or before each of several `backward` calls whose gradients were to be accumulated."
    " PyTorch only: TensorFlow keeps no gradients between updates.",
    why="The step finds nothing, or zeros: the parameters do not move, or only by what an optimizer "
    "remembers. Nothing fails.",
    bad="""\
loss.backward()
optimizer.zero_grad()
optimizer.step()""",
    good="""\
optimizer.zero_grad()
loss.backward()
optimizer.step()""",
    use_instead="The order is `zero_grad`, `backward`, `step`.",
    site="the clearing call",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroGradBeforeStep(Cause):
    """Stored gradients are thrown away before the step that they were computed for."""

    rule: ClassVar[str] = PAGE.slug
    backward: Site | None = None
    step: Site | None = None
    calls: int = 0  # of backward for one step, of which the last one counts


def phrase(cause: ZeroGradBeforeStep) -> Finding:
    """Put gradients that are cleared too early into words."""
    here, call = cause.dialect, words.code(words.source(cause) or "zero_grad()")
    backward = f"`{here.differentiate}`{words.near(cause.backward, cause.site)}"
    step = f"`{here.step}`{words.near(cause.step, cause.site)}"
    if cause.calls:
        return words.say(
            cause,
            title=f"of {cause.calls} {here.differentiate} calls before a step only the last one counts",
            why=f"{call} runs before each of them, so that nothing is accumulated: the gradients of "
            f"{cause.calls - 1} of {cause.calls} losses are thrown away.",
            fix=f"clear once for each {step}, right after it",
        )
    return words.say(
        cause,
        title=f"{words.who(cause).does('does', 'do')} not learn: gradients are cleared between "
        f"{here.differentiate} and step",
        why=f"{call} runs after the {backward} and before the {step}, which finds nothing.",
        fix=f"move it above the {backward}, or below the {step}",
    )


RULE = Rule(PAGE, phrase, ZeroGradBeforeStep)
