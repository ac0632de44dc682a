"""unmasked-bootstrap: ``done`` is there, and the value of the next state counts after the end."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="unmasked-bootstrap",
    family="wrong",
    summary="`done` comes with the batch, and the bootstrap value is never masked by it",
    what="Beside the batch there are zeros and ones, one for each sample, that nothing reads, and the "
    "discounted value of the next state is added to the reward of every sample. Or the value is masked, and "
    "the sum that is carried from step to step (as in GAE) goes on across the ends of episodes.",
    why="After a terminal state nothing follows. A value that is counted all the same makes ends look as "
    "good as what the network makes of a state that was never acted in; values drift upwards, or the end is "
    "not avoided.",
    bad="""\
state, action, reward, next_state, done = batch
target = reward + gamma * next_value""",
    good="""\
state, action, reward, next_state, done = batch
target = reward + gamma * (1 - done) * next_value""",
    use_instead="Multiply the value of the next state with `1 - done`, where `done` is 1 at a terminal state "
    "and 0 where a time limit ended the episode. A sum over later steps is masked at both: "
    "`running = delta + gamma * lam * (1 - done) * running`.",
    site="where the target is computed",
    bad_tensorflow="""\
state, action, reward, next_state, done = batch
target = reward + gamma * next_value""",
    good_tensorflow="""\
state, action, reward, next_state, done = batch
target = reward + gamma * (1 - done) * next_value""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmaskedBootstrap(Cause):
    """A value that counts after the end."""

    rule: ClassVar[str] = PAGE.slug
    flag: str = ""  # what nobody reads
    mask: str = ""  # what the value is masked with, where the sum over the steps after it is not


def phrase(cause: UnmaskedBootstrap) -> Finding:
    """Put a value without a mask into words."""
    flag = cause.flag or "done"
    if cause.mask:
        return _across(cause)
    return words.say(
        cause,
        title=f"the bootstrap value is not masked: nothing reads `{flag}`",
        why=f"`{flag}` holds zeros and ones, one for each sample, as the ends of episodes do. The value of "
        "the next state is added at all of them.",
        fix=f"multiply the value of the next state with `(1 - {flag})`, if `{flag}` marks terminal states",
        avoid="a mask where only a time limit ended the episode: there the next state has a value",
    )


def _across(cause: UnmaskedBootstrap) -> Finding:
    return words.say(
        cause,
        title=f"the sum goes on across the ends of episodes: not masked by `{cause.mask}`, as the value is",
        why="The value of the next state is dropped where an episode ends, and what was summed up over the "
        "steps after it is not: an episode gets the advantages of the one that was played next.",
        fix=f"multiply what is carried on with the same mask, `{cause.mask}`",
        avoid="leaving out the mask of the value: both need it",
    )


RULE = Rule(PAGE, phrase, UnmaskedBootstrap)
