"""loss-independent: the loss that was differentiated does not depend on the parameter.

Reads the details ``kind`` (``never-called``, ``unused``, ``other-network``, ``constant``) and ``instead``.
"""

import re

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="loss-independent",
    family="missing",
    summary="the loss does not depend on the parameter: never called, left out, another network, a constant",
    what="The loss that was differentiated does not depend on the parameter at all: its network was never "
    "called, its output was left out of the loss, another network was called in its place, or the loss is a "
    "constant.",
    why="There is no path, so there is no gradient. The optimizer skips the parameter without a word.",
    bad="""\
logits, value = model(state)
policy_loss = -(Categorical(logits=logits).log_prob(action) * advantage).mean()
value_loss = F.mse_loss(value, returns)
loss = policy_loss - 0.01 * entropy  # value_loss is forgotten
loss.backward()""",
    good="""\
logits, value = model(state)
policy_loss = -(Categorical(logits=logits).log_prob(action) * advantage).mean()
value_loss = F.mse_loss(value, returns)
loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
loss.backward()""",
    use_instead="Put the network's output into the loss that is differentiated; or, if it is not meant to "
    "learn here, take it out of the optimizer.",
    avoid="`find_unused_parameters=True` (DDP) and `allow_unused=True` (`autograd.grad`) hide the message, "
    'and so does `unconnected_gradients="zero"` (TensorFlow); the network still learns nothing.',
    site="where the loss is made",
    bad_tensorflow="""\
with tf.GradientTape(persistent=True) as tape:
    actor_loss, critic_loss = losses(batch)
critic_grads = tape.gradient(critic_loss, critic.trainable_variables)
actor_grads = tape.gradient(critic_loss, actor.trainable_variables)  # all None""",
    good_tensorflow="""\
with tf.GradientTape(persistent=True) as tape:
    actor_loss, critic_loss = losses(batch)
critic_grads = tape.gradient(critic_loss, critic.trainable_variables)
actor_grads = tape.gradient(actor_loss, actor.trainable_variables)""",
)

_UNUSED = "`find_unused_parameters=True` or `allow_unused=True`: the message goes, nothing is learnt"

_TWINS = re.compile(r"target|old|copy|local|online|\d")


def phrase(cause: Cause) -> Finding:
    """Put a loss that does not know the network into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    kinds = {"never-called": _never_called, "other-network": _other_network, "constant": _constant}
    return kinds.get(cause.details.get("kind", ""), _unused)(cause)


def _loss(cause: Cause) -> str:
    """The loss by its name where the line gives it one."""
    code = words.source(cause)
    name = rewrite.assigned(code)
    return f"`{name}`" if name else words.code(code, 60) if code else "the loss"


def _never_called(cause: Cause) -> Finding:
    who = words.who(cause)
    holder = f"out of `{cause.optimizer}`" if cause.optimizer else "out of the optimizer"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: {'they are' if who.several else 'it is'} never called",
        why=f"No forward pass of {who} was seen before {_loss(cause)}: it cannot depend on {who.it}.",
        fix=f"call {who.it} on the way to this loss; or, if that is not meant, take {who.it} {holder}",
        avoid=_UNUSED,
    )


def _unused(cause: Cause) -> Finding:
    who = words.who(cause)
    output = "their output does" if who.several else "its output does"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: {output} not enter the loss",
        why=f"{who.does('is', 'are')} called, but nothing that {who.they} computed reaches {_loss(cause)}.",
        fix=f"add the term that uses {who} to {_loss(cause)}",
        avoid=_UNUSED,
    )


def _other_network(cause: Cause) -> Finding:
    who, instead = words.who(cause), cause.details.get("instead") or "another network"
    new = None
    if not who.several:
        lines = [words.source(cause), *(s.site.code for s in cause.chain if s.site)]
        tries = (_swapped(line, instead, words.networks(cause)) for line in lines)
        new = next((line for line in tries if line), None)
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: the loss goes through {instead} instead",
        why=f"{_loss(cause)} is computed with {instead}; {who.does('has', 'have')} no part in it.",
        fix=f"write {words.code(new)}" if new else f"call {who} where {instead} is called for this loss",
    )


def _swapped(line: str, old: str, new: str) -> str | None:
    return rewrite.with_name(line, words.in_scope(old, line), words.in_scope(new, line))


def _constant(cause: Cause) -> Finding:
    who = words.who(cause)
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: the loss is a constant",
        why=f"{_loss(cause)} depends on no parameter: it is made of data only.",
        fix=f"make the loss of what {who} computed in this update: predictions, log-probabilities, Q-values",
        avoid=words.no_fake_root(cause),
    )


def _on_tensorflow(cause: Cause) -> Finding:
    who, loss, kind = words.who(cause), _loss(cause).replace("`return ", "`"), cause.details.get("kind", "")
    instead = cause.details.get("instead") or "another network"
    listed = f"leave {who.it} out of the list that `tape.gradient` is asked for"
    said = {
        "never-called": (
            f"the loss does not depend on {who.it}",
            f"{loss} is computed without {who}: there is no path, and `tape.gradient` answers `None`.",
            f"let what {who} computes enter {loss}; or, if that is not meant, {listed}",
        ),
        "other-network": (
            f"the loss is made with {instead}, without {who}",
            f"{loss} depends on {instead} only; nothing that {who} computed in this update enters it.",
            _with_its_output(cause, instead),
        ),
        "constant": (
            "the loss is a constant",
            f"{loss} depends on no variable: it is made of data only.",
            f"make the loss of what {who} computed in this update: predictions, log-probabilities, Q-values",
        ),
    }
    output = "their output does" if who.several else "its output does"
    unused = (
        f"{output} not enter the loss",
        f"{who.does('is', 'are')} called, but nothing that {who.they} computed reaches {loss}.",
        f"add the term that uses {who} to {loss}, or ask `tape.gradient` about the loss that has it",
    )
    short, why, fix = said.get(kind, unused)
    title = f"{who.does('gets', 'get')} no gradient: {short}"
    return words.say(cause, title=title, why=why, fix=fix, avoid=words.no_filtering(cause))


def _with_its_output(cause: Cause, instead: str) -> str:
    who, code = words.who(cause), words.source(cause)
    if not who.several and _TWINS.search(f"{instead} {who}"):
        new = _swapped(code, instead, words.networks(cause))
        if new:
            return f"write {words.code(new, words.LONG)}"
    return (
        f"put what {who} computes into {_loss(cause)}, e.g. as the action that goes into {instead}; or ask "
        f"`tape.gradient` about the loss that depends on {who}"
    )


RULE = Rule(PAGE, phrase)
