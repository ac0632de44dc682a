"""target-unused: a target network that is kept in sync, and that nobody asks for a value."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="target-unused",
    family="wrong",
    summary="a target network is kept in sync, and the online network gives the bootstrap value",
    what="Weights are copied into a network all through training, its output enters no loss, and the network "
    "that they come from gives the value of the next state. Or, in double Q-learning, the two are swapped.",
    why="The targets move with every update of the network that is regressed on them. That is what the "
    "target network was made to prevent.",
    bad="""\
with torch.no_grad():
    target = reward + gamma * q_net(next_state).max(1).values
update(q_net, target)
target_net.load_state_dict(q_net.state_dict())""",
    good="""\
with torch.no_grad():
    target = reward + gamma * target_net(next_state).max(1).values
update(q_net, target)
target_net.load_state_dict(q_net.state_dict())""",
    use_instead="Ask the target network for the value of the next state; in double Q-learning the online "
    "network chooses the action, and the target network still gives its value.",
    site="where the target is computed",
    bad_tensorflow="""\
target = reward + gamma * tf.reduce_max(q_net(next_state), axis=1)
update(q_net, target)
target_net.set_weights(q_net.get_weights())""",
    good_tensorflow="""\
target = reward + gamma * tf.reduce_max(target_net(next_state), axis=1)
update(q_net, target)
target_net.set_weights(q_net.get_weights())""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetUnused(Cause):
    """A target network that is not asked."""

    rule: ClassVar[str] = PAGE.slug
    by_network: ClassVar[bool] = True
    target: str = ""  # the network that is synced
    sync: Site | None = None
    chooses: bool = False  # it only says which action, and the online network says what that is worth


def phrase(cause: TargetUnused) -> Finding:
    """Put a target network that nobody asks into words."""
    who, target = words.who(cause), cause.target or "the target network"
    online = words.listed(who.names) or "the online network"
    if cause.chooses:
        return _reversed_roles(cause, target, online)
    synced = f" at {words.place(cause.sync, cause.site)}" if cause.sync is not None else ""
    return words.say(
        cause,
        title=f"{who.does('gives', 'give')} the bootstrap value, and {target} is never asked",
        why=f"{target} is copied from {online}{synced}, and its output enters no loss: the targets move with "
        "every update.",
        fix=f"compute the value of the next state with {target}",
    )


def _reversed_roles(cause: TargetUnused, target: str, online: str) -> Finding:
    """Double Q-learning with its two networks swapped."""
    return words.say(
        cause,
        title=f"{words.who(cause).does('gives', 'give')} the bootstrap value, and {target} only chooses the "
        "action",
        why=f"Double Q-learning lets {online} choose, and {target} say what the choice is worth. The other "
        "way round the targets move with every update.",
        fix=f"swap the two: take the action from {online}, and its value from {target}",
    )


RULE = Rule(PAGE, phrase, TargetUnused)
