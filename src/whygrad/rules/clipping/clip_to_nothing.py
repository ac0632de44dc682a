"""clip-to-nothing: a clip that leaves nearly nothing of the gradient, or two in a row."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="clip-to-nothing",
    family="wrong",
    summary="the clip threshold removes nearly all of every gradient, or two clips are stacked",
    what="The threshold is far below what gradients look like here, in every update; or the same gradients "
    "are clipped twice; or they are clipped while a `GradScaler` still has them scaled.",
    why="With plain SGD the network stands still. With Adam it moves, but only by the direction of the "
    "largest elements and by noise. Two clips in a row hide each other: neither threshold means what "
    "it says.",
    bad="""\
loss.backward()
nn.utils.clip_grad_norm_(policy.parameters(), max_norm=1e-5)
optimizer.step()""",
    good="""\
loss.backward()
nn.utils.clip_grad_norm_(policy.parameters(), max_norm=0.5)
optimizer.step()""",
    use_instead="Print the norm that `clip_grad_norm_` returns for some updates and choose a threshold that "
    "only "
    "cuts the spikes. One clip per update.",
    site="the clip call; of two, the second",
    bad_tensorflow="""\
optimizer = keras.optimizers.Adam(1e-3, clipnorm=0.1)
grads, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 0.5)
optimizer.apply_gradients(zip(grads, variables))  # clipped twice""",
    good_tensorflow="""\
optimizer = keras.optimizers.Adam(1e-3)
grads, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 0.5)
optimizer.apply_gradients(zip(grads, variables))""",
    bad_jax="""\
tx = optax.chain(optax.clip_by_global_norm(1e-6), optax.sgd(1e-2))""",
    good_jax="""\
tx = optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(1e-2))""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipToNothing(Cause):
    """A clip takes nearly everything away, or takes away what another one has left."""

    rule: ClassVar[str] = PAGE.slug
    of: str = "norm"  # what is limited: norm, value, loss
    threshold: float | None = None
    before: float | None = None  # the norm, or the largest element, as the clip found it
    left: float | None = None  # the part of the gradient that is left
    stacked: str = ""  # the other clip of the same gradients
    scaled: bool = False  # the gradients were still multiplied with the factor of a loss scaler


def phrase(cause: ClipToNothing) -> Finding:
    """Put too much clipping into words."""
    if cause.scaled:
        return _before_unscaling(cause)
    if cause.stacked:
        return _twice(cause)
    return _flat(cause) if cause.of == "loss" else _tight(cause)


def _before_unscaling(cause: ClipToNothing) -> Finding:
    return words.say(
        cause,
        title="gradients are clipped while they are scaled: after unscaling, nearly nothing is left",
        why=f"{_seen(cause)}`scaler.scale(loss)` has multiplied them with a large factor. The clip cuts that "
        "down to the threshold, and then the factor is divided out once more.",
        fix=f"call `scaler.unscale_({cause.optimizer or 'optimizer'})` between `backward` and the clip",
        avoid="a larger threshold: the scaler changes its factor while it runs",
    )


def _twice(cause: ClipToNothing) -> Finding:
    return words.say(
        cause,
        title="the same gradients are clipped twice",
        why=f"{words.code(cause.stacked)} has clipped them before, and this call takes away more: "
        "neither threshold means what it says.",
        fix="keep one of the two clips",
    )


def _flat(cause: ClipToNothing) -> Finding:
    return words.say(
        cause,
        title=f"{words.who(cause).does('gets', 'get')} only zeros: the loss is clipped",
        why="Beyond the limits of a clip the derivative is exactly zero. Here all values are beyond "
        "them, in every update that was looked at.",
        fix="clip the gradients, not the loss; for a robust loss use Huber, which goes on with a "
        "straight line where a clipped square is flat",
        avoid="a larger learning rate: zero times anything is zero",
    )


def _tight(cause: ClipToNothing) -> Finding:
    left = "nearly nothing" if cause.left is None else f"{100 * cause.left:.2g} %"
    return words.say(
        cause,
        title=f"clipping leaves {left} of the gradient",
        why=f"{_seen(cause)}In every update that was looked at, nearly all of the gradient is taken away.",
        fix=f"choose a threshold that only cuts the spikes, 0.5 to 40 for a norm; {_usual(cause)}",
    )


def _seen(cause: ClipToNothing) -> str:
    if cause.threshold is None or cause.before is None:
        return ""
    what = "largest element" if cause.of == "value" else "norm"
    return f"The {what} was {cause.before:.3g}, the threshold is {cause.threshold:g}. "


def _usual(cause: ClipToNothing) -> str:
    if cause.threshold == 0:
        return "0 does not switch clipping off: leave the clip out for that"
    return f"print the norm that `{cause.dialect.clip_by_norm}` returns to see what is usual here"


RULE = Rule(PAGE, phrase, ClipToNothing)
