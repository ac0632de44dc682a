"""terminal-mask: the mask of terminal states holds more than 0 and 1.

Reads the detail ``mask``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="terminal-mask",
    family="wrong",
    summary="the `1 - done` mask holds values other than 0 and 1",
    what="The factor that should end the bootstrap at a terminal state holds other numbers: `~done` of "
    "integers gives 254 and 255 or -1 and -2, `1 - done` of a counter or of 255 gives large ones.",
    why="The value of the next state is multiplied with these numbers instead of being kept or dropped. "
    "Values explode or change their sign.",
    bad="""\
done = torch.tensor(dones, dtype=torch.uint8)
target = reward + gamma * next_value * ~done  # 254 and 255""",
    good="""\
done = torch.tensor(dones, dtype=torch.float32)
target = reward + gamma * next_value * (1 - done)""",
    use_instead="Keep `done` as a bool or as 0.0 and 1.0, and use `1 - done.float()`.",
    site="where the mask is applied",
    bad_tensorflow="""\
done = tf.cast(dones, tf.float32)  # 0 and 255
target = reward + gamma * next_value * (1 - done)""",
    good_tensorflow="""\
done = tf.cast(dones > 0, tf.float32)
target = reward + gamma * next_value * (1 - done)""",
)


def phrase(cause: Cause) -> Finding:
    """Put a strange mask into words."""
    mask = cause.details.get("mask", "")
    made = f" ({words.code(mask, 60)})" if mask and mask != words.source(cause) else ""
    return words.say(
        cause,
        title="the terminal mask holds values other than 0 and 1",
        why=f"The mask{made} should keep or drop the value of the next state; it scales it instead.",
        fix="keep `done` as 0.0 and 1.0 and multiply with `(1 - done)`",
        avoid="`~done` on integers: it gives 254 and 255, or -1 and -2",
    )


RULE = Rule(PAGE, phrase)
