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
    bad_tensorflow="""\
target_net = q_net""",
    good_tensorflow="""\
target_net = keras.models.clone_model(q_net)
target_net.set_weights(q_net.get_weights())""",
)


def phrase(cause: Cause) -> Finding:
    """Put two names for one network into words."""
    target = cause.details.get("target", "") or "the target network"
    online = cause.details.get("online", "") or "the online network"
    name = online.rpartition(".")[2] if cause.details.get("online") else "net"
    if words.on_tensorflow(cause):
        fix = f"make a network of its own: `keras.models.clone_model({name})`, then `set_weights`"
        avoid = "`clone_model` alone: the clone has weights of its own until they are set"
    else:
        fix = f"make a network of its own: `copy.deepcopy({name})`"
        avoid = "`copy.copy`: a shallow copy has the same parameters"
    return words.say(
        cause,
        title=f"{target} is {online}: the same parameters under two names",
        why=f"Both names stand for the same parameters, so the targets move with every step of {online}.",
        fix=fix,
        avoid=avoid,
    )


RULE = Rule(PAGE, phrase)
