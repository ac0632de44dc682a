"""vanishing: gradients far below those of the other layers.

Reads the details ``size``, ``top`` and ``worst``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="vanishing",
    family="unhealthy",
    summary="gradient norms far below those of other layers",
    what="The largest element of a layer's gradient is below 1e-8 and below 1e-5 of the largest in the same "
    "network, in the median of the updates that were looked at. 1e-8 is the epsilon of Adam: below it Adam "
    "no longer makes up for a small gradient, and SGD never did. 1e-5 says that it is this layer, and not a "
    "loss that is small altogether.",
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


def phrase(cause: Cause) -> Finding:
    """Put a vanishing gradient into words."""
    details, subject = cause.details, words.who(cause)
    size, top = details.get("size", "nearly nothing"), details.get("top", "far more")
    return words.say(
        cause,
        title=f"the gradient of {subject} vanishes: {size}, in other layers {top}",
        why=f"The largest element of the gradient of `{details.get('worst', subject)}` is {size} (median of "
        "the updates that were looked at). Below 1e-8 even Adam does not move a weight.",
        fix="ReLU instead of sigmoid or tanh between the layers, LayerNorm or residual connections, scaled "
        "inputs",
        avoid="a larger learning rate: the last layers explode before the first ones move",
    )


RULE = Rule(PAGE, phrase)
