"""target-alias: the target network is the online network under another name."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="target-alias",
    family="wrong",
    summary="target and online network share the same parameters",
    what="A second name, not a second network: `target = q_net`, or a shallow copy.",
    why="The targets move with every step, as if there were no target network. Syncing copies the network "
    "onto itself.",
    bad="""\
target_net = q_net""",
    good="""\
target_net = copy.deepcopy(q_net)""",
    use_instead="`copy.deepcopy(net)`, or a second network with `load_state_dict`.",
    avoid="`copy.copy`: a shallow copy has the same parameters.",
    site="the assignment",
    bad_tensorflow="""\
target_net = q_net""",
    good_tensorflow="""\
target_net = keras.models.clone_model(q_net)
target_net.set_weights(q_net.get_weights())""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetAlias(Cause):
    """Two names for one network."""

    rule: ClassVar[str] = PAGE.slug
    target: str = ""  # the name through which the targets are computed
    memory: bool = False  # two networks that share their memory
    later: bool = False  # the name was given away after the first targets had been computed
    online: str = ""  # the one through which the predictions are


def phrase(cause: TargetAlias) -> Finding:
    """Put two names for one network into words."""
    target, online = cause.target or "the target network", cause.online or "the online network"
    if cause.memory:
        return words.say(
            cause,
            title=f"{target} has the memory of {online}: whatever changes the one changes the other",
            why=f"This line copies no numbers: it lets the weights of {target} point to those of {online}. "
            f"From then on the targets move with every step of {online}.",
            fix="copy the numbers: `target_param.data.copy_(param.data)`",
        )
    if cause.later:
        return words.say(
            cause,
            title=f"{target} is {online} from here on: no weights are copied",
            why=f"The first targets came from a network of their own. This line gives its name to {online}, "
            f"so the targets move with every step of {online} from then on.",
            fix=f"copy the weights: `{cause.dialect.copied(target, online)}`",
            avoid=cause.dialect.shallow,
        )
    return words.say(
        cause,
        title=f"{target} is {online}: the same parameters under two names",
        why=f"Both names stand for the same parameters, so the targets move with every step of {online}.",
        fix=f"make a network of its own: {cause.dialect.cloned(cause.online.rpartition('.')[2] or 'net')}",
        avoid=cause.dialect.shallow,
    )


RULE = Rule(PAGE, phrase, TargetAlias)
