"""frozen: gradients are switched off for a parameter that is meant to learn."""

import re
from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="frozen",
    family="missing",
    summary="`requires_grad` is off, but an optimizer holds it or it is meant to learn",
    what="`requires_grad` (in Keras: `trainable`) was switched off for parameters that an optimizer holds, "
    "or that are trained later.",
    why="A frozen parameter gets no gradient and the optimizer skips it. Freezing the critic for the "
    "actor's update is fine; forgetting to switch it on again is not.",
    bad="""\
for p in critic.parameters():
    p.requires_grad = False
actor_loss = -critic(state, actor(state)).mean()
actor_loss.backward()
actor_opt.step()""",
    good="""\
critic.requires_grad_(False)
actor_loss = -critic(state, actor(state)).mean()
actor_loss.backward()
actor_opt.step()
critic.requires_grad_(True)""",
    use_instead="Switch it on again right after the update that needed it off. Or do not freeze at all: the "
    "actor's optimizer does not hold the critic, so it cannot change it. Keras: set `trainable` "
    "before `compile` and before the first training step.",
    avoid="`loss.requires_grad = True` silences the error of the next critic update (see fake-root).",
    site="where it was frozen",
    bad_tensorflow="""\
critic.trainable = False
actor_update(batch)
critic_update(batch)  # critic.trainable_variables is empty""",
    good_tensorflow="""\
critic.trainable = False
actor_update(batch)
critic.trainable = True
critic_update(batch)""",
    bad_jax="""\
labels = {"actor": "still", "critic": "learns"}
tx = optax.multi_transform({"learns": optax.adam(1e-3), "still": optax.set_to_zero()}, labels)
opt_state = tx.init(params)""",
    good_jax="""\
labels = {"actor": "learns", "critic": "learns"}
tx = optax.multi_transform({"learns": optax.adam(1e-3), "still": optax.set_to_zero()}, labels)
opt_state = tx.init(params)""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen(Cause):
    """Somebody has frozen it, and nobody has thawed it."""

    rule: ClassVar[str] = PAGE.slug
    in_vain: bool = False  # this line was to thaw it: an attribute of a module, which does nothing


def phrase(cause: Frozen) -> Finding:
    """Put a frozen parameter into words."""
    keyword, _, value = cause.dialect.frozen.partition(" = ")
    born = re.search(rf"[,(]\s*{keyword}\s*=\s*{value}", words.source(cause)) is not None
    who = words.who(cause)
    if cause.in_vain:
        owner = words.source(cause).partition(".requires_grad")[0]
        return words.say(
            cause,
            title=f"{who.does('is', 'are')} never thawed: `requires_grad` of a module switches nothing on",
            why="A module takes any attribute. Its parameters have switches of their own, and those are "
            "still off.",
            fix=f"write `{owner}.requires_grad_(True)`: with the underscore it is told to each parameter",
        )
    how = f"{keyword}={value}" if born else cause.dialect.frozen
    why, fix = _born(cause, keyword, how) if born else _switched_off(cause)
    leave = cause.dialect.left_out(who.it, cause.optimizer or "its optimizer")
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: frozen by {how}",
        why=why,
        fix=f"{fix}; or, if {who.they} should stay frozen, {leave}",
        avoid=words.hiding(cause),
    )


def _born(cause: Frozen, keyword: str, how: str) -> tuple[str, str]:
    """Why, and what to write, where the line that makes it freezes it."""
    who, code = words.who(cause), words.source(cause)
    new = rewrite.without_keyword(code, keyword)
    return (
        f"`{how}` makes {who} without gradients from the start: nothing is computed for {who.it}, and "
        "nothing can be applied.",
        f"write {words.code(new, words.LONG)}" if new else f"leave `{how}` out",
    )


def _switched_off(cause: Frozen) -> tuple[str, str]:
    """Why, and what to write, where another line has frozen it."""
    who, code = words.who(cause), words.source(cause)
    line = words.code(code) if code else f"`{cause.dialect.frozen}`"
    layer = re.fullmatch(r"(\w+)\.trainable\s*=\s*False", rewrite.uncommented(code).strip())
    if layer and layer[1] not in {name.rpartition(".")[2] for name in who.names}:
        return _one_by_one(cause, line, layer[1])
    owners = dict.fromkeys(words.in_scope(words.attribute(name), code) for name in who.names[:3])
    on = ", ".join(f"`{cause.dialect.thawed(owner)}`" for owner in owners)
    return (
        f"{line} switches gradients off for {who}, which {cause.optimizer or 'an optimizer'} should train; "
        "nothing switches them on again before that update.",
        f"switch gradients on again {cause.dialect.thawed_before}: {on}",
    )


def _one_by_one(cause: Frozen, line: str, layer: str) -> tuple[str, str]:
    """Layers that a loop has frozen: to thaw the model around them may leave them as they are."""
    who, on = words.who(cause), cause.dialect.thawed(layer)
    return (
        f"{line} switches gradients off for {who}, one by one; nothing switches them on again.",
        f"leave this line out, or write `{on}` for the same ones {cause.dialect.thawed_before}",
    )


RULE = Rule(PAGE, phrase, Frozen)
