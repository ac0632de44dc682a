"""vanishing: gradients far below those of the other layers."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.flow.magnitudes import FAR_BELOW, NOTHING
from whygrad.model import Finding, Parameter
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

_NOTHING, _FAR = words.power(NOTHING), words.power(FAR_BELOW)

PAGE = Page(
    slug="vanishing",
    family="unhealthy",
    summary="gradient norms far below those of other layers",
    what=f"The largest element of a layer's gradient is below {_NOTHING} and below {_FAR} of the largest in "
    f"the same network, in the median of the updates that were looked at. {_NOTHING} is the epsilon of Adam: "
    f"below it Adam no longer makes up for a small gradient, and SGD never did. {_FAR} says that it is this "
    "layer, and not a loss that is small altogether.",
    why="The last layers learn on top of first layers that keep their random start. Every saturating "
    "activation between them multiplies the gradient with less than one.",
    bad="""\
hidden = [m for _ in range(12) for m in (nn.Linear(64, 64), nn.Sigmoid())]
net = nn.Sequential(nn.Linear(3, 64), *hidden, nn.Linear(64, 2))""",
    good="""\
hidden = [m for _ in range(3) for m in (nn.Linear(64, 64), nn.ReLU())]
net = nn.Sequential(nn.Linear(3, 64), *hidden, nn.Linear(64, 2))""",
    use_instead="ReLU-like activations, fewer layers, residual connections or LayerNorm; scaled inputs; for "
    "recurrent networks gates (LSTM, GRU) and shorter sequences.",
    avoid="a larger learning rate: the last layers explode before the first ones move",
    site="where the layer with the smallest gradient is made",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vanishing(Cause):
    """A layer does not move, beside others that do."""

    rule: ClassVar[str] = PAGE.slug
    worst: Parameter | None = None
    size: float | None = None  # the largest element of its gradient
    top: float | None = None  # the same of the network


def phrase(cause: Vanishing) -> Finding:
    """Put a vanishing gradient into words."""
    subject, worst = words.who(cause), cause.worst
    size = "nearly nothing" if cause.size is None else f"{cause.size:.1e}"
    top = "far more" if cause.top is None else f"{cause.top:.1e}"
    return words.say(
        cause,
        title=f"the gradient of {subject} vanishes: {size}, in other layers {top}",
        why=f"The largest element of the gradient of `{worst.name if worst else subject}` is {size} (median "
        f"of the updates that were looked at). Below {_NOTHING} even Adam does not move a weight.",
        fix="ReLU instead of sigmoid or tanh between the layers, LayerNorm or residual connections, scaled "
        "inputs",
        avoid="a larger learning rate: the last layers explode before the first ones move",
    )


RULE = Rule(PAGE, phrase, Vanishing)
