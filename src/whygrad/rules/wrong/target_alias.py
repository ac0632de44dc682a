"""target-alias: the target network is the online network under another name.

Reads the details ``target`` and ``online``.
"""

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
)


def phrase(cause: Cause) -> Finding:
    """Put two names for one network into words."""
    target = cause.details.get("target", "") or "the target network"
    online = cause.details.get("online", "") or "the online network"
    return words.say(
        cause,
        title=f"{target} is {online}: the same parameters under two names",
        why=f"Both names stand for the same parameters, so the targets move with every step of {online}.",
        fix=f"make a network of its own: `copy.deepcopy({online.rpartition('.')[2]})`"
        if cause.details.get("online")
        else "make a network of its own: `copy.deepcopy(net)`",
        avoid="`copy.copy`: a shallow copy has the same parameters",
    )


RULE = Rule(PAGE, phrase)
