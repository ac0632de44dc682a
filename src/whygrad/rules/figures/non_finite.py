"""non-finite: NaN or Inf in a loss, a gradient or a weight, and the operation that made the first one."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Parameter
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="non-finite",
    family="unhealthy",
    summary="NaN or Inf in a loss, a gradient or a weight; the first operation that made it",
    what="A value that is not a number, or infinite, has reached the loss or its gradient. The finding names "
    "the first operation that made one, as far as its result was still there to be looked at. The loss and "
    "all gradients are looked at in every recorded update, the gradients of the others now and then; a "
    "single NaN is enough.",
    why="One step with a NaN gradient makes every weight that it touches NaN, for good. What fails later (a "
    "distribution that refuses its parameters, an environment that gets a NaN action) is far from the cause.",
    bad="""\
for mb in minibatches:  # the last one has one sample
    adv = advantages[mb]
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)  # std() of one sample is NaN
    update(mb, adv)""",
    good="""\
for mb in minibatches:
    adv = advantages[mb]
    if len(adv) > 1:
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    update(mb, adv)""",
    use_instead="Keep the argument away from where the operation breaks: `log(p + eps)`, `sqrt(x + eps)`, an "
    "exponent that is clamped, a division by `x + eps`, no `std()` of a single sample.",
    avoid="replacing the NaN by zeros (`nan_to_num`): training goes on with numbers that mean nothing",
    site="the operation that made the first one; where that is not known, the call that differentiates",
    bad_tensorflow="""\
ratio = tf.exp(logp - old_logp)  # overflows when the policies are far apart
loss = -tf.reduce_mean(ratio * adv)""",
    good_tensorflow="""\
ratio = tf.exp(tf.clip_by_value(logp - old_logp, -20.0, 20.0))
loss = -tf.reduce_mean(ratio * adv)""",
)

_ADVICE = {
    "log": "keep its argument above zero: `log(p + 1e-8)`, or `log_softmax` of the logits in one operation",
    "sqrt": "its derivative at 0 is infinite: `sqrt(x + 1e-8)`",
    "rsqrt": "keep its argument above zero: `rsqrt(x + 1e-8)`",
    "norm": "its derivative at 0 is infinite: `sqrt(sum(x * x) + 1e-8)`",
    "vector_norm": "its derivative at 0 is infinite: `sqrt(sum(x * x) + 1e-8)`",
    "exp": "it overflows beyond 88: clamp the exponent, or compute with logarithms",
    "div": "the divisor is zero: add a small number to it",
    "truediv": "the divisor is zero or not finite itself: add a small number to it",
    "std": "`std()` needs two samples at least: leave out a minibatch of one",
    "pow": "a negative number has no such power, and zero has no such derivative: keep the base above zero",
    "var": "`var()` needs two samples at least: leave out a minibatch of one",
    "cross_entropy": "a mean over no label at all is 0/0: count what is left, `(labels != -100).sum()`; if "
    "there are some, the logits are not finite",
    "nll_loss": "a mean over no label at all is 0/0: count what is left, `(labels != -100).sum()`",
    "acos": "keep its argument inside of (-1, 1): clamp it a little short of both ends",
    "atanh": "keep its argument inside of (-1, 1): clamp it a little short of both ends",
}
_MASK = "replacing the NaN by zeros: training goes on with numbers that mean nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class NonFinite(Cause):
    """The first number that is none; what is broken after it is not told of."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    gradient: bool = False  # it is in a gradient; otherwise in the loss
    value: float | None = None  # of the loss
    op: str = ""  # the operation that made it
    weight: Parameter | None = None  # it was in a weight before
    entered: bool = False  # it came in with the data
    single: bool = False  # what broke has one element
    recorded: bool = True  # the update it was in
    compiled: bool = False  # the update is compiled: no value in it is looked at


def phrase(cause: NonFinite) -> Finding:
    """Put a number that is none into words."""
    title, why, fix = _reason(cause, cause.op.strip("_"))
    return words.say(cause, title=title, why=why, fix=fix, avoid=_MASK)


def _reason(cause: NonFinite, op: str) -> tuple[str, str, str]:
    """Title, reason and advice."""
    if not cause.recorded:
        return _unrecorded(cause)
    if cause.gradient:
        return _of_derivative(cause, op)
    if cause.compiled:
        return _in_compiled_code(cause, op)
    return _of_weights(cause, cause.weight) if cause.weight else _of_operation(cause, op)


def _unrecorded(cause: NonFinite) -> tuple[str, str, str]:
    return (
        f"the gradient of {words.who(cause)} is not finite",
        f"At update {cause.first_update} a gradient was NaN or infinite; that update was not recorded, and "
        "the operation that made it was not seen.",
        "run `whygrad check` with the seed and the weights of shortly before, or look at log, sqrt, exp and "
        "divisions by data",
    )


def _of_derivative(cause: NonFinite, op: str) -> tuple[str, str, str]:
    made = f", by the derivative of {op}" if op else ""
    return (
        f"the gradient of {words.who(cause)} is NaN or infinite{made}",
        "The loss is a number and its gradient is not: a derivative on the way is infinite.",
        _ADVICE.get(op, "look at the operations whose derivative is infinite somewhere: sqrt, norm, log"),
    )


def _of_weights(cause: NonFinite, weight: Parameter) -> tuple[str, str, str]:
    return (
        f"the loss is {_value(cause)}: the weights are broken",
        f"`{weight.name}` itself is not finite: an earlier update has broken it.",
        "look at the update before: its gradient, its learning rate, its loss",
    )


def _in_compiled_code(cause: NonFinite, op: str) -> tuple[str, str, str]:
    why = f"Seen at update {cause.first_update}. The update is compiled: the values in it are not looked at"
    eagerly = f"{cause.dialect.eagerly} and run whygrad again: it then names the operation"
    if op:
        only = f"{why}; but this is the only operation behind the loss that can make one of finite numbers."
        return f"the loss is {_value(cause)}, made by {op}", only, _ADVICE.get(op, eagerly)
    return f"the loss is {_value(cause)}", f"{why}, and which operation made it is not known.", eagerly


def _of_operation(cause: NonFinite, op: str) -> tuple[str, str, str]:
    """Where the first operation is known."""
    if cause.single and "std(" in words.source(cause):
        return (
            f"the loss is {_value(cause)}: `std()` of one sample",
            "The standard deviation of a single sample is 0/0. One such minibatch makes every weight NaN.",
            "leave out a minibatch of one sample, or normalise before it is split into minibatches",
        )
    if cause.entered:
        return (
            f"the loss is {_value(cause)}: it came in with the data",
            "The data is not finite before any network has seen it.",
            "look at this line: a division by zero, an observation or a reward that is not a number",
        )
    made = f"made by {op}" if op else "somewhere in this computation"
    return (
        f"the loss is {_value(cause)}, {made}",
        "This is the first value behind the loss that is not finite; one step with it makes every weight "
        f"of {words.who(cause)} NaN.",
        _ADVICE.get(op, "keep the arguments of this operation away from where it is not defined"),
    )


def _value(cause: NonFinite) -> str:
    return "not finite" if cause.value is None else str(cause.value)


RULE = Rule(PAGE, phrase, NonFinite)
