"""zero-gradient: connected to the loss, but every gradient is exactly zero."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule


class Zeroed(StrEnum):
    """What multiplies a gradient with zero."""

    RELU = "relu"
    TANH = "tanh"
    SIGMOID = "sigmoid"
    SOFTMAX = "softmax"
    FACTOR = "factor"  # a value that is zero in every element
    NUMBER = "number"  # a plain 0 of the user's
    BOUND = "bound"
    OTHER_SIDE = "other side"  # of a minimum or a maximum
    WEIGHTS = "weights"
    DIFFERENCE = "difference"
    PAIR = "pair"  # of factors, each of which is zero
    LABELS = "labels"  # none of them counts


#: Beyond these, float32 rounds the result to its limit.
LIMITS = {Zeroed.TANH: 9.1, Zeroed.SIGMOID: 17.0}

PAGE = Page(
    slug="zero-gradient",
    family="unhealthy",
    summary="connected, but exactly zero: dead ReLU units, a saturated output, a zero advantage",
    what="Gradient flows all the way and is exactly zero in every update that was looked at (three at "
    "least), or from some update on until the end (a warning): on the way it is multiplied with zero. A "
    "`clamp` that is always at its bound, a `min` or `max` that always takes the other side, a coefficient "
    "of 0, dead ReLU units, a tanh or sigmoid so far out that "
    f"float32 rounds it to its limit (|x| above {LIMITS[Zeroed.TANH]:.0f} and {LIMITS[Zeroed.SIGMOID]:.0f}), "
    "a softmax over one element, an advantage that is zero, weights that are all zero, both factors of an "
    "adapter, labels of which none counts.",
    why="Nothing is missing and nothing fails: the part simply never moves. Optimizers do not complain about "
    "zeros.",
    bad="""\
for mb in minibatches:  # of one sample each
    adv = advantages[mb]
    adv = adv - adv.mean()  # always 0
    update(mb, adv)""",
    good="""\
advantages = advantages - advantages.mean()
for mb in minibatches:
    adv = advantages[mb]
    update(mb, adv)""",
    use_instead="A state value has no activation at its end. Scale the inputs and the last layer of a "
    "network that ends in tanh so that it starts near zero. Normalise advantages over the whole batch.",
    avoid="a larger learning rate: zero times anything is zero",
    site="the line that made the zeros; for an activation inside of a layer, where the layer is made",
    bad_tensorflow="""\
critic = keras.Sequential([Dense(64, "relu"), Dense(1, activation="softmax")])  # always 1""",
    good_tensorflow="""\
critic = keras.Sequential([Dense(64, "relu"), Dense(1)])""",
)

_LARGER = "a larger learning rate: zero times anything is zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroGradient(Cause):
    """A gradient is multiplied with zero on its way."""

    rule: ClassVar[str] = PAGE.slug
    how: Zeroed | None = None
    centred: bool = False  # the factor is one number minus its own mean
    multiplied: Site | None = None  # where the loss meets the factor
    since: int = 0  # the update since which it is zero, if it was alive before


def phrase(cause: ZeroGradient) -> Finding:
    """Put a gradient of zeros into words."""
    subject = words.who(cause)
    because, why, fix = _reason(cause)
    since = f" since update {cause.since:,}" if cause.since else ""
    title = f"{subject.does('gets', 'get')} a gradient of exactly zero{since}: {because}"
    return words.say(cause, title=title, why=why, fix=fix, avoid=_LARGER)


def _reason(cause: ZeroGradient) -> tuple[str, str, str]:
    """Because of what, why that is so, and what to write instead."""
    if cause.how is Zeroed.FACTOR:
        return _factor(cause)
    return _REASONS.get(cause.how, _UNKNOWN)


def _saturated(kind: Zeroed) -> tuple[str, str, str]:
    return (
        f"its {kind} is saturated",
        f"Everything that goes into this {kind} is beyond {LIMITS[kind]:.0f}: the result is rounded to its "
        "limit, and its derivative is zero.",
        "scale the observations, start the last layer with small weights (between -3e-3 and 3e-3), and "
        "penalise large values before the activation if they grow",
    )


_UNKNOWN = ("it is multiplied with zero on its way", "Zero times anything is zero.", "look at the way")
_REASONS: dict[Zeroed | None, tuple[str, str, str]] = {
    Zeroed.SOFTMAX: (
        "a softmax over one element",
        "A softmax over one element is always 1, whatever goes in: its derivative is zero.",
        "leave the softmax out: a value needs no activation, a choice between two needs two outputs",
    ),
    Zeroed.RELU: (
        "all its ReLU units are dead",
        "Every output of this ReLU is zero in every update: its derivative there is zero, and nothing "
        "can bring the units back.",
        "a smaller learning rate, smaller weights at the start or `LeakyReLU`; no ReLU behind the last layer",
    ),
    Zeroed.TANH: _saturated(Zeroed.TANH),
    Zeroed.SIGMOID: _saturated(Zeroed.SIGMOID),
    Zeroed.WEIGHTS: (
        "the weights behind it are all zero",
        "Gradient goes back through these weights; all of them are zero, and so is what comes through.",
        "initialise at most the last layer with zeros",
    ),
    Zeroed.BOUND: (
        "it is always clipped",
        "Everything that goes in here lies outside of the bounds: what comes out is the bound, and its "
        "derivative is zero.",
        "widen the bounds, or clip the target instead of the prediction; a penalty on what is outside brings "
        "it back",
    ),
    Zeroed.OTHER_SIDE: (
        "the minimum or maximum always takes the other value",
        "This value is never the one that is taken: gradient goes to the other one only.",
        "train each of the two on its own loss; take the minimum or maximum in the target only",
    ),
    Zeroed.NUMBER: (
        "it is multiplied with 0",
        "The coefficient of this term is 0: so is the gradient of all that stands in it.",
        "look at where the coefficient is set; leave the term out if that is meant",
    ),
    Zeroed.PAIR: (
        "two factors are zero, each stops the other",
        "Both of what is multiplied here is zero in every element, and weights on either side get gradient "
        "only through the other one: neither can ever leave zero.",
        "let one of the two begin at zero, as LoRA does with B, and the other one at random, as with A",
    ),
    Zeroed.LABELS: (
        "no label counts",
        "The cross entropy is exactly zero: every label is the one that is ignored (-100 in PyTorch), or "
        "each is predicted with certainty.",
        "count the labels that are left, `(labels != -100).sum()`: is the mask inverted, is the answer cut "
        "off, is the padding the whole text?",
    ),
    Zeroed.DIFFERENCE: (
        "prediction and target are the same",
        "The difference is zero in every element: there is nothing to learn from.",
        "look at where the target comes from: it must not be computed from the very same values",
    ),
}


def _factor(cause: ZeroGradient) -> tuple[str, str, str]:
    line = words.near(cause.multiplied, cause.site)
    if cause.centred:
        return (
            "the advantage is normalised over one sample",
            f"One number minus its own mean is zero, and the loss{line} is multiplied with it.",
            "normalise over the whole batch, before it is split into minibatches; or use larger minibatches",
        )
    return (
        "it is multiplied with zero",
        f"Every element of this value is zero, and the loss{line} is multiplied with it: an advantage, a "
        "reward or a mask of nothing but zeros.",
        "look at where it comes from: is it zero by mistake, or is there no reward yet?",
    )


RULE = Rule(PAGE, phrase, ZeroGradient)
