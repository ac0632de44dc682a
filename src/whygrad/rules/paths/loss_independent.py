"""loss-independent: the loss that was differentiated does not depend on the parameter."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

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
    bad_jax="""\
def loss_fn(params):
    q = network.apply(state.params, obs)  # not the argument
    return jnp.square(q[rows, action] - target).mean()


grads = jax.grad(loss_fn)(state.params)""",
    good_jax="""\
def loss_fn(params):
    q = network.apply(params, obs)
    return jnp.square(q[rows, action] - target).mean()


grads = jax.grad(loss_fn)(state.params)""",
)

Kind: TypeAlias = Literal["never-called", "unused", "head", "other-network", "constant", "idle"]
Said: TypeAlias = tuple[str, str, str]

# Names of networks that stand for each other; an actor and a critic do not, and cannot be exchanged.
_TWINS = re.compile(r"target|old|copy|local|online|\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossIndependent(Cause):
    """There is no path between them."""

    rule: ClassVar[str] = PAGE.slug
    kind: Kind = "unused"
    instead: tuple[str, ...] = ()  # the networks that the loss does depend on


def phrase(cause: LossIndependent) -> Finding:
    """Put a loss that does not know the network into words."""
    if cause.kind == "head":
        return _head(cause)
    if cause.kind == "idle":
        return _idle(cause)
    title, why, fix = _SAID[cause.kind](cause, words.who(cause), _loss(cause))
    here = cause.dialect
    return words.say(
        cause,
        title=f"{words.who(cause).does('gets', 'get')} no gradient: {title}",
        why=why,
        fix=fix,
        avoid=here.hiding if cause.kind == "constant" else here.hiding_unused,
    )


def _head(cause: LossIndependent) -> Finding:
    who = words.who(cause)
    output, spare = ("what they give is", "are") if who.several else ("what it gives is", "is")
    return words.say(
        cause,
        title=f"{who.does('does', 'do')} not learn: {output} not used",
        why=f"The rest of {words.networks(cause)} learns; no loss, and nothing else that was seen, "
        f"depends on {who}.",
        fix=f"nothing, if {who.they} {spare} left for later; else add a loss for {who.it}",
    )


def _idle(cause: LossIndependent) -> Finding:
    who, instead = words.who(cause), words.listed(cause.instead) if cause.instead else "another network"
    return words.say(
        cause,
        title=f"{who.does('does', 'do')} not learn from {instead}: this term of the loss does not depend on "
        f"{who.it}",
        why=f"{who.does('is', 'are')} trained by the other terms alone. This one is a value of {instead}, "
        f"made of data and of nothing that {who.they} computed, and nobody applies its gradient.",
        fix=f"give {instead} what {who} computes in this update, its action for instance, not a stored one",
    )


def _loss(cause: LossIndependent) -> str:
    """The loss by its name where the line gives it one."""
    code = words.source(cause)
    asked = re.fullmatch(r"([\w.]+)\.backward\(.*\)", rewrite.uncommented(code).strip())
    name = rewrite.assigned(code) or (asked[1] if asked else "")
    return f"`{name}`" if name else words.code(code.removeprefix("return "), 60) if code else "the loss"


def _never_called(cause: LossIndependent, who: words.Who, loss: str) -> Said:
    """The end of the title, why, and what to do: for each kind, below."""
    leave = cause.dialect.left_out(who.it, f"`{cause.optimizer}`" if cause.optimizer else "the optimizer")
    return (
        f"{'they are' if who.several else 'it is'} never called",
        f"No forward pass of {who} was seen before {loss}: it cannot depend on {who.it}.",
        f"call {who.it} on the way to this loss; or, if that is not meant, {leave}",
    )


def _unused(cause: LossIndependent, who: words.Who, loss: str) -> Said:
    return (
        f"{'their' if who.several else 'its'} output does not enter the loss",
        f"{who.does('is', 'are')} called, but nothing that {who.they} computed reaches {loss}.",
        f"add the term that uses {who} to {loss}, or differentiate the loss that has it",
    )


def _constant(cause: LossIndependent, who: words.Who, loss: str) -> Said:
    what = cause.dialect.parameters.removesuffix("s")
    return (
        "the loss is a constant",
        f"{loss[0].upper()}{loss[1:]} depends on no {what}: it is made of data only.",
        f"make the loss of what {who} computed in this update: predictions, log-probabilities, Q-values",
    )


def _other_network(cause: LossIndependent, who: words.Who, loss: str) -> Said:
    instead = words.listed(cause.instead) if cause.instead else "another network"
    twins = _TWINS.search(f"{instead} {who}")
    why = (
        f"{loss[0].upper()}{loss[1:]} depends on {instead} only; nothing that {who} computed in this update "
    )
    return (
        f"the loss goes through {instead} instead"
        if twins
        else f"the loss is made with {instead}, without {who}",
        f"{why}enters it.",
        _exchanged(cause, who, instead)
        if twins
        else f"put what {who} computes into {loss}, e.g. as the action that goes into {instead}; or "
        f"differentiate the loss that depends on {who}",
    )


def _exchanged(cause: LossIndependent, who: words.Who, instead: str) -> str:
    new = _with_its_twin(cause) if not who.several and len(cause.instead) == 1 else None
    return (
        f"write {words.code(new, words.LONG)}"
        if new
        else f"call {who} where {instead} is called for this loss"
    )


def _with_its_twin(cause: LossIndependent) -> str | None:
    """The first line on the way that calls the other one, with the right one in its place."""
    (old,), new = cause.instead, words.networks(cause)
    lines = [words.source(cause), *(step.site.code for step in cause.chain if step.site)]
    tries = (rewrite.with_name(at, words.in_scope(old, at), words.in_scope(new, at)) for at in lines)
    return next((line for line in tries if line), None)


_SAID: dict[Kind, Callable[[LossIndependent, words.Who, str], Said]] = {
    "never-called": _never_called,
    "unused": _unused,
    "other-network": _other_network,
    "constant": _constant,
}


RULE = Rule(PAGE, phrase, LossIndependent)
