"""clip-to-nothing: a clip that leaves nearly nothing of the gradient, or two in a row.

Reads the details ``threshold``, ``before``, ``left``, ``kind`` and ``stacked``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="clip-to-nothing",
    family="wrong",
    summary="the clip threshold removes nearly all of every gradient, or two clips are stacked",
    what="The threshold is far below what gradients look like here, in every update; or the same gradients "
    "are clipped twice.",
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
)


def phrase(cause: Cause) -> Finding:
    """Put too much clipping into words."""
    details = cause.details
    if details.get("stacked"):
        return words.say(
            cause,
            title="the same gradients are clipped twice",
            why=f"{words.code(details['stacked'])} has clipped them before, and this call takes away more: "
            "neither threshold means what it says.",
            fix="keep one of the two clips",
        )
    if details.get("loss"):
        who = words.who(cause)
        return words.say(
            cause,
            title=f"{who.does('gets', 'get')} only zeros: the loss is clipped",
            why="Beyond the limits of a clip the derivative is exactly zero. Here all values are beyond "
            "them, in every update that was looked at.",
            fix="clip the gradients, not the loss; for a robust loss use Huber, which goes on with a "
            "straight line where a clipped square is flat",
            avoid="a larger learning rate: zero times anything is zero",
        )
    what = "largest element" if details.get("kind") == "value" else "norm"
    limit, before = details.get("threshold", ""), details.get("before", "")
    seen = f"The {what} was {before}, the threshold is {limit}. " if limit and before else ""
    left = details.get("left", "")
    usual = "; print what `clip_grad_norm_` returns to see what is usual here"
    if details.get("framework") == "tensorflow" and limit not in ("", "0"):
        usual = "; print the norm that `tf.clip_by_global_norm` returns to see what is usual here"
    elif details.get("framework") == "tensorflow":
        usual = "; 0 does not switch clipping off: leave the clip out for that"
    return words.say(
        cause,
        title=f"clipping leaves {left or 'nearly nothing'} of the gradient",
        why=f"{seen}In every update that was looked at, nearly all of the gradient is taken away.",
        fix=f"choose a threshold that only cuts the spikes, 0.5 to 40 for a norm{usual}",
    )


RULE = Rule(PAGE, phrase)
