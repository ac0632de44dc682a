"""zero-gradient: connected to the loss, but every gradient is exactly zero.

Reads the details ``how`` (relu, tanh, sigmoid, softmax, factor, weights, difference), ``one``, ``mean``,
``line`` and ``op``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="zero-gradient",
    family="unhealthy",
    summary="connected, but exactly zero: dead ReLU units, a saturated output, a zero advantage",
    what="Gradient flows all the way and is exactly zero in every update that was looked at (three at "
    "least): on the way it is multiplied with zero. Dead ReLU units, a tanh or sigmoid so far out that "
    "float32 rounds it to its limit (|x| above 9 and 17), a softmax over one element, an advantage that is "
    "zero, weights that are all zero.",
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


def phrase(cause: Cause) -> Finding:
    """Put a gradient of zeros into words."""
    subject = words.who(cause)
    because, why, fix = _reason(cause)
    title = f"{subject.does('gets', 'get')} a gradient of exactly zero: {because}"
    return words.say(cause, title=title, why=why, fix=fix, avoid=_LARGER)


def _reason(cause: Cause) -> tuple[str, str, str]:
    """Because of what, why that is so, and what to write instead."""
    how = cause.details.get("how", "")
    if how == "factor":
        return _factor(cause)
    return {
        "softmax": (
            "a softmax over one element",
            "A softmax over one element is always 1, whatever goes in: its derivative is zero.",
            "leave the softmax out: a value needs no activation, a choice between two needs two outputs",
        ),
        "relu": (
            "all its ReLU units are dead",
            "Every output of this ReLU is zero in every update: its derivative there is zero, and nothing "
            "can bring the units back.",
            "a smaller learning rate, smaller weights at the start or `LeakyReLU`; no ReLU behind the last "
            "layer",
        ),
        "tanh": _saturated("tanh", "9"),
        "sigmoid": _saturated("sigmoid", "17"),
        "weights": (
            "the weights behind it are all zero",
            "Gradient goes back through these weights; all of them are zero, and so is what comes through.",
            "initialise at most the last layer with zeros",
        ),
        "difference": (
            "prediction and target are the same",
            "The difference is zero in every element: there is nothing to learn from.",
            "look at where the target comes from: it must not be computed from the very same values",
        ),
    }.get(how, ("it is multiplied with zero on its way", "Zero times anything is zero.", "look at the way"))


def _saturated(name: str, beyond: str) -> tuple[str, str, str]:
    return (
        f"its {name} is saturated",
        f"Everything that goes into this {name} is beyond {beyond}: the result is rounded to its limit, and "
        "its derivative is zero.",
        "scale the observations, start the last layer with small weights (`uniform_(-3e-3, 3e-3)`), and "
        "penalise large values before the activation if they grow",
    )


def _factor(cause: Cause) -> tuple[str, str, str]:
    details = cause.details
    line = words.at(details.get("line", ""))
    if details.get("one") and details.get("mean"):
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


RULE = Rule(PAGE, phrase)
