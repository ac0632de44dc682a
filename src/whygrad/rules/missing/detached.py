"""detached: the path from the parameter to the loss goes through ``.detach()`` or ``.data``.

Reads the details ``op`` (``.detach()``, ``.data``, ``nn.Parameter(...)``).
"""

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
)

_COPY = "nn.Parameter"
_CONSTANTS = r"(?i)adv|delta|td\b|td_|returns?\b|\bret\b|target|weight|error|reward|\brew\b"


def phrase(cause: Cause) -> Finding:
    """Put a detached path into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    op = cause.details.get("op", ".detach()")
    return words.say(
        cause,
        title=words.starved(cause, f"cut by {op}"),
        why=_why(op, words.who(cause)),
        fix=_fix(op, cause),
        avoid=words.no_fake_root(cause),
    )


def _why(op: str, who: words.Who) -> str:
    if op.startswith(_COPY):
        return f"`{op}` starts a new leaf from the numbers: what computed them, {who} included, is forgotten."
    return (
        f"`{op}` keeps the numbers and drops their history: to `backward`, all that {who} did is a constant."
    )


def _fix(op: str, cause: Cause) -> str:
    code, who = words.source(cause), words.who(cause)
    if op.startswith(_COPY):
        return f"use the value itself; wrap only initial values in `{op}`, once, in `__init__`"
    new = rewrite.without_attribute(code, "data") if op == ".data" else rewrite.without_calls(code, "detach")
    if new is not None and ".requires_grad_(" in new:
        return f"leave out both `{op}` and `requires_grad_`: the value has a gradient of its own"
    if new is None:
        return f"take `{op}` away from the value through which {who} must learn"
    holder = cause.optimizer or "this optimizer"
    protect = f"; {holder} leaves alone what it does not hold" if rewrite.calls_around(code, op) else ""
    return f"write {words.code(new)}{protect}"


def _on_tensorflow(cause: Cause) -> Finding:
    op, who = cause.details.get("op", "tf.stop_gradient"), words.who(cause)
    constant = f"to `tape.gradient`, all that {who} did is a constant."
    if op.endswith("stop_gradient"):
        why, fix = f"`{op}` keeps the numbers and drops their history: {constant}", _let_through(op, cause)
    elif op.endswith(".assign"):
        why, fix = words.assigned_state(cause)
    else:
        why = f"TensorFlow has no gradient for `{op}`: {constant}"
        fix = "use an operation that has one, or give this one its own with `@tf.custom_gradient`"
    title = words.starved(cause, f"cut by {op}")
    return words.say(cause, title=title, why=why, fix=fix, avoid=words.no_filtering(cause))


def _let_through(op: str, cause: Cause) -> str:
    code, who = words.source(cause), words.who(cause)
    new = rewrite.factor_only(code, op, _CONSTANTS) or rewrite.unwrapped(code, op)
    if new is None:
        return f"take `{op}` away from the value through which {who} must learn"
    written = f"write {words.code(new, words.LONG)}"
    if rewrite.calls_around(code, op):
        return f"{written}; only the variables that `apply_gradients` gets are changed"
    helper = cause.site.function if cause.site else ""
    if code.startswith("return ") and cause.loss and cause.loss.function != helper and helper != "call":
        return f"{written}, and stop targets where they are made: `{op}({helper}(...))`"
    return written


RULE = Rule(PAGE, phrase)
