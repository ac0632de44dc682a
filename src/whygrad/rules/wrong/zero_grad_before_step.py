"""zero-grad-before-step: the gradients are cleared between ``backward`` and ``step``.

Reads the details ``backward_line`` and ``step_line``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="zero-grad-before-step",
    family="wrong",
    summary="gradients are cleared between `backward` and `step`",
    what="`zero_grad()` (or `p.grad = None`) runs after the `backward` and before the `step` that should "
    "use its gradients."
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


def phrase(cause: Cause) -> Finding:
    """Put gradients that are cleared too early into words."""
    who = words.who(cause)
    backward, step = (words.at(cause.details.get(f"{end}_line", "")) for end in ("backward", "step"))
    call = words.code(words.source(cause)) if words.source(cause) else "The clearing call"
    return words.say(
        cause,
        title=f"{who.does('does', 'do')} not learn: gradients are cleared between backward and step",
        why=f"{call} runs after the `backward`{backward} and before the `step()`{step}, which finds nothing.",
        fix=f"move it above the `backward`{backward}, or below the `step()`{step}",
    )


RULE = Rule(PAGE, phrase)
