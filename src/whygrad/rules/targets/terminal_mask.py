"""terminal-mask: the mask of terminal states holds more than 0 and 1."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="terminal-mask",
    family="wrong",
    summary="the `1 - done` mask holds values other than 0 and 1, or is the wrong way round",
    what="The factor that should end the bootstrap at a terminal state holds other numbers: `~done` of "
    "integers gives 254 and 255 or -1 and -2, `1 - done` of a counter or of 255 gives large ones. Or it is "
    "`done` itself, and keeps the value of the next state only where there is none.",
    why="The value of the next state is multiplied with these numbers instead of being kept or dropped. "
    "Values explode or change their sign; with a mask that is the wrong way round nothing but the next "
    "reward is learnt.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalMask(Cause):
    """A mask that scales the value of the next state."""

    rule: ClassVar[str] = PAGE.slug
    mask: Site | None = None  # where the mask is made
    kept: float | None = None  # the share of the values that it keeps, if it is the wrong way round
    samples: int = 0


def phrase(cause: TerminalMask) -> Finding:
    """Put a strange mask into words."""
    if cause.kept is not None:
        return _inverted(cause)
    return words.say(
        cause,
        title="the terminal mask holds values other than 0 and 1",
        why=f"The mask{_made(cause)} should keep or drop the value of the next state; it scales it instead.",
        fix="keep `done` as 0.0 and 1.0 and multiply with `(1 - done)`",
        avoid="`~done` on integers: it gives 254 and 255, or -1 and -2",
    )


def _inverted(cause: TerminalMask) -> Finding:
    share = "none" if not cause.kept else f"{max(round(100 * cause.kept), 1)} %"
    return words.say(
        cause,
        title=f"the terminal mask is the wrong way round: it keeps {share} of the bootstrap values",
        why=f"Of {cause.samples:,} samples the value of the next state counts in {share}. Most steps do not "
        "end an episode, so this factor is `done` where `1 - done` is meant. (If every episode ends after a "
        "step or two, all is well.)",
        fix="multiply the value of the next state with 1 where the episode goes on: `(1 - done)`",
    )


def _made(cause: TerminalMask) -> str:
    """Where the mask is made, unless that is the line of the finding itself."""
    if cause.mask is None or cause.mask == cause.site:
        return ""
    code = rewrite.uncommented(cause.mask.code)
    return f" ({words.code(code, 60)}, {words.place(cause.mask, cause.site)})" if code else ""


RULE = Rule(PAGE, phrase, TerminalMask)
