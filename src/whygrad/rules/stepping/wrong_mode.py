"""wrong-mode: a network with dropout or batch norm is trained in eval mode, or acts in train mode."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="wrong-mode",
    family="wrong",
    summary="a network with dropout or batch normalisation is trained in eval mode, or acts in train mode",
    what="Dropout and batch normalisation compute something else in training than in evaluation. The "
    "network is "
    "in eval mode when its loss is computed, or in train mode when it acts or gives targets. In Keras a call "
    "under a tape is in eval mode unless it says `training=True`.",
    why="In eval mode dropout does nothing, and batch normalisation uses statistics that nothing updates "
    "any more. "
    "In train mode every action has noise in it that no policy asked for, and batch normalisation mixes the "
    "states "
    "that it is given together. Nothing fails, and the loss falls.",
    bad="""\
def act(state):
    policy.eval()
    with torch.no_grad():
        return policy(state).argmax().item()  # and policy stays in eval mode""",
    good="""\
def act(state):
    policy.eval()
    with torch.no_grad():
        action = policy(state).argmax().item()
    policy.train()
    return action""",
    use_instead="`net.eval()` before acting and before an evaluation, `net.train()` before each update. "
    "Target "
    "networks are never trained: `target.eval()` once.",
    avoid="`with torch.no_grad():` in place of `eval()`: it turns gradients off, not dropout.",
    site="the call that switched, or the forward pass before which one is missing",
    bad_tensorflow="""\
with tf.GradientTape() as tape:
    q = q_net(states)  # dropout does nothing
    loss = tf.reduce_mean(tf.square(targets - q))""",
    good_tensorflow="""\
with tf.GradientTape() as tape:
    q = q_net(states, training=True)
    loss = tf.reduce_mean(tf.square(targets - q))""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongMode(Cause):
    """A forward pass in the mode that belongs to another."""

    rule: ClassVar[str] = PAGE.slug
    by_network: ClassVar[bool] = True
    acting: bool = False  # in train mode, where it should evaluate
    target: bool = False  # the same, of a target network
    stopped: bool = False  # the framework has refused it


def phrase(cause: WrongMode) -> Finding:
    """Put a mode that does not fit into words."""
    who = words.who(cause)
    name = who.names[0] if len(who.names) == 1 else "net"
    if cause.acting or cause.target:
        return _in_train_mode(cause, name)
    here = cause.dialect
    line = words.code(words.source(cause) or ("eval()" if here.modes_switched else f"{name}(...)"))
    switched = (
        f"{line} puts {who} into eval mode, and nothing has put {who.it} back when the loss is computed."
    )
    told = (
        f"{line} does not ask for train mode, and eval mode is what a call gets then: dropout lets "
        "everything through, and batch normalisation learns no statistics."
    )
    return words.say(
        cause,
        title=f"{who.does('is', 'are')} trained in eval mode: dropout and batch normalisation are off",
        why=switched if here.modes_switched else told,
        fix=here.to_train(name),
    )


def _in_train_mode(cause: WrongMode, name: str) -> Finding:
    who = words.who(cause)
    what = who.does("gives targets", "give targets") if cause.target else who.does("acts", "act")
    here, noisy, fix = cause.dialect, _TOLD, cause.dialect.to_evaluate(name)
    if here.modes_switched:
        back = "" if cause.target else f", and `{name}.train()` before the next update"
        noisy, fix = _NOISY, f"{fix} {'once, where it is made' if cause.target else 'before it'}{back}"
    return words.say(
        cause,
        title=f"{what} in train mode: dropout or batch normalisation is at work",
        why=_STOPPED if cause.stopped else noisy,
        fix=fix,
        avoid="turning gradients off instead: that does not turn dropout off",
    )


_STOPPED = (
    "No `eval()` comes before this forward pass. In train mode batch normalisation needs a batch: of a "
    "single state "
    "it cannot take statistics, and stops."
)
_NOISY = (
    "No `eval()` comes before this forward pass, through which nothing is trained: dropout zeroes a part of "
    "it, batch "
    "normalisation uses the statistics of this batch."
)
_TOLD = (
    "This forward pass is asked for train mode, and nothing is trained through it: dropout zeroes a part "
    "of it, batch normalisation uses the statistics of this batch."
)

RULE = Rule(PAGE, phrase, WrongMode)
