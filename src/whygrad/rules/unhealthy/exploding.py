"""exploding: gradients that grow without bound, or spike far above their own history.

Reads the details ``early``, ``late`` and ``grown``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="exploding",
    family="unhealthy",
    summary="gradients that grow without bound, or spike far above their own history",
    what="The largest element of an optimizer's gradients, as its step gets them: the last quarter of the "
    "run is 10,000 times above the first and above 1,000, or one update is a million times above the "
    "median. Values that grow with the returns of an agent that learns grow by a factor of a few hundred; "
    "10,000 is divergence. Gradients that are clipped before the step do not explode.",
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


def phrase(cause: Cause) -> Finding:
    """Put an exploding gradient into words."""
    details, subject = cause.details, words.who(cause)
    early, late = details.get("early", "small"), details.get("late", "huge")
    since = f" since update {cause.first_update}" if cause.first_update else ""
    if details.get("grown"):
        title = f"the gradient of {subject} explodes: {late}, at first {early}"
        why = f"Its largest element has grown far beyond 10,000 times its size{since}."
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


RULE = Rule(PAGE, phrase)
