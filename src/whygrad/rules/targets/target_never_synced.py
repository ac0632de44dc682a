"""target-never-synced: a target network that never gets the weights of the online network."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="target-never-synced",
    family="wrong",
    summary="the target network keeps its first weights while the online network learns",
    what="A network gives the bootstrap values, no optimizer trains it, and nothing writes into it while "
    "the online network learns.",
    why="The targets come from an untrained network for ever: what is learnt is the value of one random "
    "step, not of a policy.",
    bad="""\
target_net = copy.deepcopy(q_net)
for batch in batches:
    with torch.no_grad():
        target = reward + gamma * target_net(next_state).max(1).values
    update(q_net, target)""",
    good="""\
target_net = copy.deepcopy(q_net)
for step, batch in enumerate(batches):
    with torch.no_grad():
        target = reward + gamma * target_net(next_state).max(1).values
    update(q_net, target)
    if step % 500 == 0:
        target_net.load_state_dict(q_net.state_dict())""",
    use_instead="Copy the weights every few hundred updates, `target.load_state_dict(online.state_dict())`, "
    "or "
    "blend a little of them in after each one, `t.lerp_(p, 0.005)`.",
    site="where the target network is made",
    bad_tensorflow="""\
target_net.set_weights(q_net.get_weights())
for batch in batches:
    target = reward + gamma * tf.reduce_max(target_net(next_state), axis=1)
    update(q_net, target)""",
    good_tensorflow="""\
target_net.set_weights(q_net.get_weights())
for step, batch in enumerate(batches):
    target = reward + gamma * tf.reduce_max(target_net(next_state), axis=1)
    update(q_net, target)
    if step % 500 == 0:
        target_net.set_weights(q_net.get_weights())""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetNeverSynced(Cause):
    """A target network that stands still."""

    rule: ClassVar[str] = PAGE.slug
    online: tuple[str, ...] = ()  # the networks that learn meanwhile


def phrase(cause: TargetNeverSynced) -> Finding:
    """Put a target network that stands still into words."""
    who, online = words.who(cause), words.listed(cause.online or ("the online network",))
    after = f" after {cause.updates} updates" if cause.updates else ""
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')} while {online} "
        f"{'learn' if len(cause.online) > 1 else 'learns'}",
        why=f"{who.does('gives', 'give')} the bootstrap targets of {online}, and{after} still "
        f"{'have' if who.several else 'has'} the first weights: no copy was made.",
        fix=f"copy the weights from time to time{_copied(cause)} or blend them in after each update",
    )


def _is_an_element(name: str) -> bool:
    return name.endswith("]")


def _copied(cause: TargetNeverSynced) -> str:
    """The line that copies the weights; with names of its own where several networks follow others."""
    names = words.who(cause).names
    if any(_is_an_element(subject.name) for subject in cause.subjects):
        return ","  # a dict of tensors: it has no method for that
    paired = len(names) == len(cause.online) == 1
    target, online = (names[0], _original(cause) or cause.online[0]) if paired else ("target", "online")
    return f", `{cause.dialect.copied(target, online)}`,"


def _original(cause: TargetNeverSynced) -> str:
    """The network that it was made as a copy of: of two critics, each target has its own."""
    origins = {subject.copy_of for subject in cause.subjects}
    return origins.pop() if len(origins) == 1 else ""


RULE = Rule(PAGE, phrase, TargetNeverSynced)
