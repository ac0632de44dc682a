"""clip-before-backward: clipping ran when the gradients were not there yet.

Reads the details ``absent``, ``backward`` and ``backward_line``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="clip-before-backward",
    family="wrong",
    summary="clipping runs before `backward`, on old gradients or on none",
    what="The call that clips stands above the `backward` whose gradients it was meant for. PyTorch only: in "
    "TensorFlow a clip works on the gradients that it is given.",
    why="`backward` then writes the real gradients, and the step uses them unclipped. Nothing fails; one "
    "bad batch can still throw the network off.",
    bad="""\
optimizer.zero_grad()
nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
loss.backward()
optimizer.step()""",
    good="""\
optimizer.zero_grad()
loss.backward()
nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
optimizer.step()""",
    use_instead="The order is `zero_grad`, `backward`, clip, `step`.",
    site="the clip call",
)


def phrase(cause: Cause) -> Finding:
    """Put a clip that comes too early into words."""
    found = "none yet" if cause.details.get("absent") else "only old ones, which a step has already used"
    line = words.at(cause.details.get("backward_line", ""))
    return words.say(
        cause,
        title="gradients are clipped before backward has computed them",
        why=f"When the clip runs it finds no gradients of this update, {found}; the `backward`{line} writes "
        f"them "
        "afterwards, and the step uses them unclipped.",
        fix=f"move the clip below the `backward`{line}, above the `step()`",
    )


RULE = Rule(PAGE, phrase)
