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
    "`.data` or `nn.Parameter(value)`.",
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
    "the critic unchanged in the actor's update, leave it out of the actor's optimizer; do not cut the "
    "action.",
    avoid="`loss.requires_grad = True` makes the error go away and leaves the path cut (see fake-root).",
    site="the call that cuts",
)

_COPY = "nn.Parameter"


def phrase(cause: Cause) -> Finding:
    """Put a detached path into words."""
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


RULE = Rule(PAGE, phrase)
