"""detached: the path from the parameter to the loss goes through ``.detach()`` or its like."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="detached",
    family="missing",
    summary="the path from the parameter to the loss goes through `.detach()` or `.data`",
    what="A value on the way from a parameter to the loss was taken out of the graph with `.detach()`, "
    "`.data` or `nn.Parameter(value)`; in TensorFlow with `tf.stop_gradient` or `Variable.assign`.",
    why="The value keeps its numbers and loses its history: for `backward` it is a constant, and nothing "
    "before it can learn. As long as the loss has another living term there is no error, and the loss may "
    "even go down.",
    bad="""\
action = actor(state).detach()
actor_loss = -critic(state, action).mean()
actor_opt.zero_grad()
actor_loss.backward()  # reaches the critic, never the actor
actor_opt.step()""",
    good="""\
action = actor(state)
actor_loss = -critic(state, action).mean()
actor_opt.zero_grad()
actor_loss.backward()
actor_opt.step()  # holds the actor only: the critic stays as it is""",
    use_instead="Detach only what must stay constant: targets, advantages, old log-probabilities. To keep "
    "the critic unchanged in the actor's update, leave it out of the actor's optimizer (in TensorFlow: "
    "out of the list for `tape.gradient`); do not cut the action.",
    avoid="`loss.requires_grad = True` makes the error go away and leaves the path cut (see fake-root). "
    "In TensorFlow, filtering out the `None` gradients does the same.",
    site="the call that cuts",
    bad_tensorflow="""\
with tf.GradientTape() as tape:
    action = tf.stop_gradient(actor(state))
    actor_loss = -tf.reduce_mean(critic([state, action]))
grads = tape.gradient(actor_loss, actor.trainable_variables)  # all None""",
    good_tensorflow="""\
with tf.GradientTape() as tape:
    action = actor(state)
    actor_loss = -tf.reduce_mean(critic([state, action]))
grads = tape.gradient(actor_loss, actor.trainable_variables)""",
    bad_jax="""\
def actor_loss(params):
    action = jax.lax.stop_gradient(actor.apply(params, state))
    return -critic.apply(critic_params, state, action).mean()


grads = jax.grad(actor_loss)(actor_params)  # zeros, without a word""",
    good_jax="""\
def actor_loss(params):
    action = actor.apply(params, state)
    return -critic.apply(critic_params, state, action).mean()


grads = jax.grad(actor_loss)(actor_params)  # of the actor only: the critic stays as it is""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detached(Cause):
    """The value was taken out of the graph."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    op: str = ""  # the call as one writes it
    meant: bool = True  # cutting is what the call is for; otherwise it has no gradient, whatever the reason
    stepwise: bool = False  # it cuts the state of a sequence, at each step
    shared: bool = False  # several backwards of one update use the value that is cut off


def phrase(cause: Detached) -> Finding:
    """Put a detached path into words."""
    op, here = cause.op or cause.dialect.stop, cause.dialect
    if cause.stepwise:
        return _at_each_step(cause, op)
    does = "keeps the numbers and drops their history" if cause.meant else "passes no gradient back"
    return words.say(
        cause,
        title=words.starved(cause, f"cut by {op}"),
        why=f"`{op}` {does}: to `{here.differentiate}`, all that {words.who(cause)} did is a constant.",
        fix=_let_through(cause, op)
        if cause.meant
        else "use an operation that has a gradient, or call this one where gradients are recorded; one of "
        f"its own is made with `{here.custom_gradient}`",
        avoid=words.hiding(cause),
    )


def _at_each_step(cause: Detached, op: str) -> Finding:
    who = words.who(cause)
    new = cause.dialect.let_through(words.source(cause), op)
    return words.say(
        cause,
        title=f"{who.does('does', 'do')} not learn through time: the state is cut by {op} at each step",
        why=f"Every step gets the state of the step before as a constant, so {who.does('learns', 'learn')} "
        "what to do with a state, and nothing about what to keep in it.",
        fix=f"{words.write(new) if new else f'leave out `{op}` here'}, and cut the state where a new "
        "sequence or a new update begins",
        avoid="cutting at each step to save memory: cut after some steps (truncated backpropagation)",
    )


def _let_through(cause: Detached, op: str) -> str:
    code = words.source(cause)
    new = cause.dialect.let_through(code, op)
    if new is None:
        return f"take `{op}` away from the value through which {words.who(cause)} must learn"
    if ".requires_grad_(" in new:
        return f"leave out both `{op}` and `requires_grad_`: the value has a gradient of its own"
    return f"{words.write(new)}{_afterwards(cause, op, code)}"


def _afterwards(cause: Detached, op: str, code: str) -> str:
    """What one fears to lose without the cut, and how to keep it."""
    if cause.shared:
        call = cause.dialect.differentiate
        return (
            f", and compute it anew before each `{call}`: several of them use it, and the first one frees "
            "its graph"
        )
    if rewrite.calls_around(code, op):
        return f"; {cause.optimizer or 'this optimizer'} changes only what it is given"
    helper = cause.site.function if cause.site else ""
    elsewhere = cause.loss is not None and cause.loss.function != helper
    if code.startswith("return ") and elsewhere and helper != cause.dialect.forward:
        return f", and cut where a constant is meant: `{cause.dialect.stopped(f'{helper}(...)')}`"
    return ""


RULE = Rule(PAGE, phrase, Detached)
