"""non-finite: NaN or Inf in a loss, a gradient or a weight, and the operation that made the first one.

Reads the details ``op``, ``value``, ``entered``, ``one``, ``weights``, ``gradient``, ``compiled``
and ``late``.
"""

from whygrad.model import Finding
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
    "acos": "keep its argument inside of (-1, 1): clamp it a little short of both ends",
    "atanh": "keep its argument inside of (-1, 1): clamp it a little short of both ends",
}
_EAGERLY = (
    "write `tf.config.run_functions_eagerly(True)` at the beginning (for `fit`: `compile(run_eagerly=True)`) "
    "and run whygrad again: it then names the operation"
)
_MASK = "replacing the NaN by zeros: training goes on with numbers that mean nothing"


def phrase(cause: Cause) -> Finding:
    """Put a number that is none into words."""
    details, subject = cause.details, words.who(cause)
    op = details.get("op", "").strip("_")
    if details.get("late"):
        why = (
            f"At update {details['late']} a gradient was NaN or infinite; that update was not recorded, and "
            "the operation that made it was not seen."
        )
        fix = (
            "run `whygrad check` with the seed and the weights of shortly before, or look at log, sqrt, exp "
        )
        return _said(cause, f"the gradient of {subject} is not finite", why, fix + "and divisions by data")
    if details.get("gradient"):
        why = "The loss is a number and its gradient is not: a derivative on the way is infinite."
        made = f", by the derivative of {op}" if op else ""
        fix = _ADVICE.get(
            op, "look at the operations whose derivative is infinite somewhere: sqrt, norm, log"
        )
        return _said(cause, f"the gradient of {subject} is NaN or infinite{made}", why, fix)
    if details.get("compiled"):
        return _said(cause, *_in_compiled_code(cause, op))
    if details.get("weights"):
        why = f"`{details['weights']}` itself is not finite: an earlier update has broken it."
        fix = "look at the update before: its gradient, its learning rate, its loss"
        return _said(cause, f"the loss is {_value(cause)}: the weights are broken", why, fix)
    return _said(cause, *_of_operation(cause, op))


def _in_compiled_code(cause: Cause, op: str) -> tuple[str, str, str]:
    """Title, reason and advice where nobody looks at single values."""
    why = f"Seen at update {cause.first_update}. The update is compiled: the values in it are not looked at"
    if op:
        only = f"{why}; but this is the only operation behind the loss that can make one of finite numbers."
        return f"the loss is {_value(cause)}, made by {op}", only, _ADVICE.get(op, _EAGERLY)
    return f"the loss is {_value(cause)}", f"{why}, and which operation made it is not known.", _EAGERLY


def _of_operation(cause: Cause, op: str) -> tuple[str, str, str]:
    """Title, reason and advice where the first operation is known."""
    details = cause.details
    source = words.source(cause)
    if details.get("one") and "std(" in source:
        return (
            f"the loss is {_value(cause)}: `std()` of one sample",
            "The standard deviation of a single sample is 0/0. One such minibatch makes every weight NaN.",
            "leave out a minibatch of one sample, or normalise before it is split into minibatches",
        )
    if details.get("entered"):
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


def _value(cause: Cause) -> str:
    return cause.details.get("value", "not finite")


def _said(cause: Cause, title: str, why: str, fix: str) -> Finding:
    return words.say(cause, title=title, why=why, fix=fix, avoid=_MASK)


RULE = Rule(PAGE, phrase)
