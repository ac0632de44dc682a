"""exploding: gradients that grow without bound, or spike far above their own history."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.flow.magnitudes import GROWTH, LARGE
from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="exploding",
    family="unhealthy",
    summary="gradients that grow without bound, or spike far above their own history",
    what="The largest element of an optimizer's gradients, as its step gets them: the last quarter of the "
    f"run is {GROWTH:,.0f} times above the first and above {LARGE:,.0f}, or one update is a million times "
    "above the median. Values that grow with the returns of an agent that learns grow by a factor of a few "
    f"hundred; {GROWTH:,.0f} is divergence. Gradients that are clipped before the step do not explode.",
    why="One such step throws away what was learnt. In value learning it is the sign of a bootstrap that "
    "feeds itself: the target grows with the estimate.",
    bad="""\
with torch.no_grad():
    target = reward + 1.99 * q_net(next_state).max(1).values  # meant 0.99: it feeds itself
loss = F.mse_loss(q_net(state).gather(1, action).squeeze(1), target)
optimizer.zero_grad()
loss.backward()""",
    good="""\
with torch.no_grad():
    target = reward + 0.99 * (1 - done) * target_net(next_state).max(1).values
loss = F.smooth_l1_loss(q_net(state).gather(1, action).squeeze(1), target)
optimizer.zero_grad()
loss.backward()
nn.utils.clip_grad_norm_(q_net.parameters(), 10)""",
    use_instead="A target network that is synced every few hundred updates, Huber loss, a clip of the "
    "gradient norm, a smaller learning rate, rewards of the size of one.",
    site="the call that differentiates",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploding(Cause):
    """Gradients far above what they were, from ``first_update`` on."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    grown: bool = False  # for good; otherwise it is one spike
    early: float | None = None  # what is usual, or was at first
    late: float | None = None


def phrase(cause: Exploding) -> Finding:
    """Put an exploding gradient into words."""
    subject = words.who(cause)
    early = "small" if cause.early is None else f"{cause.early:.1e}"
    late = "huge" if cause.late is None else f"{cause.late:.1e}"
    since = f" since update {cause.first_update}" if cause.first_update else ""
    if cause.grown:
        title = f"the gradient of {subject} explodes: {late}, at first {early}"
        why = f"Its largest element has grown far beyond {GROWTH:,.0f} times its size{since}."
    else:
        title = f"the gradient of {subject} spikes: {late}, usually about {early}"
        why = f"One update is more than a million times above the others{since}."
    return words.say(
        cause,
        title=title,
        why=why,
        fix="clip the gradient norm before the step, lower the learning rate, scale the rewards; for "
        "value learning a target network and Huber loss",
    )


RULE = Rule(PAGE, phrase, Exploding)
