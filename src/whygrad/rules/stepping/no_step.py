"""no-step: gradients are computed and never applied."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="no-step",
    family="missing",
    summary="gradients are computed and never applied: no `step()`, or a learning rate of 0",
    what="`backward` (or `tape.gradient`) computes the gradients, and then no optimizer step uses them; or "
    "the learning rate is 0 in every step, from an early one on, or for one group of parameters.",
    why="The parameters keep their first values. Losses and gradient norms print as if all were well.",
    bad="""\
critic_loss = F.mse_loss(critic(state, action), target)
critic_opt.zero_grad()
critic_loss.backward()
actor_loss = -critic(state, actor(state)).mean()
actor_opt.zero_grad()
actor_loss.backward()
actor_opt.step()  # critic_opt.step() is missing""",
    good="""\
critic_loss = F.mse_loss(critic(state, action), target)
critic_opt.zero_grad()
critic_loss.backward()
critic_opt.step()
actor_loss = -critic(state, actor(state)).mean()
actor_opt.zero_grad()
actor_loss.backward()
actor_opt.step()""",
    use_instead="One `step()` of the right optimizer after each `backward()` (or after each accumulated "
    "group). With a scheduler, print `optimizer.param_groups[0]['lr']` once: a warm-up that starts at 0 and "
    "is never stepped stays at 0.",
    site="the last call that had the gradients",
    bad_tensorflow="""\
grads = tape.gradient(critic_loss, critic.trainable_variables)
grads, norm = tf.clip_by_global_norm(grads, 1.0)  # and then?""",
    good_tensorflow="""\
grads = tape.gradient(critic_loss, critic.trainable_variables)
grads, norm = tf.clip_by_global_norm(grads, 1.0)
critic_opt.apply_gradients(zip(grads, critic.trainable_variables))""",
    bad_jax="""\
updates, opt_state = tx.update(grads, opt_state)
optax.apply_updates(params, updates)  # returns the new ones, and changes nothing""",
    good_jax="""\
updates, opt_state = tx.update(grads, opt_state)
params = optax.apply_updates(params, updates)""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoStep(Cause):
    """Gradients that move nothing."""

    rule: ClassVar[str] = PAGE.slug
    rate_zero: bool = False  # they are applied, times zero
    dropped: bool = False  # the step gives new values to its caller, who does not keep them
    asked: bool = False  # the call gives the gradients to its caller and stores none


def phrase(cause: NoStep) -> Finding:
    """Put gradients that nobody applies into words."""
    if cause.rate_zero:
        return _times_zero(cause)
    if cause.dropped:
        return _given_away(cause)
    return _not_handed_over(cause) if cause.asked else _not_stepped(cause)


def _times_zero(cause: NoStep) -> Finding:
    here = cause.dialect
    read = here.rate_of(cause.optimizer or "optimizer")
    since, by = cause.first_update, cause.optimizer or "The optimizer"
    stays = ("never changes", "never change") if since <= 1 else ("stops changing", "stop changing")
    when = "" if since <= 1 else f" from update {since:,} on"
    return words.say(
        cause,
        title=f"{words.who(cause).does(*stays)}: the learning rate is 0{when}",
        why=f"{by} multiplies the gradients by a learning rate of 0{when}.",
        fix=f"give `{here.rate}` a value above 0 (`print({read})` shows what arrives: integer division, and "
        "schedules that start at 0 or are never stepped, are the usual reasons)",
    )


def _given_away(cause: NoStep) -> Finding:
    code = words.source(cause)
    who = words.who(cause)
    step = cause.dialect.step.partition("(")[0]
    old = (rewrite.arguments_of(code, step)[:1] or ["params"])[0]
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: the result of the step is dropped",
        why=f"{words.code(code or step)} changes nothing in place: it gives new {cause.dialect.parameters} "
        "back, and every update begins with the old ones again.",
        fix=f"keep what it gives, and go on with it: `{old} = {code.strip() or step + '(...)'}`",
    )


def _not_handed_over(cause: NoStep) -> Finding:
    here, code = cause.dialect, words.source(cause)
    asked = rewrite.arguments_of(code, here.ask.rpartition(".")[2])[1:2] or [words.variables(cause, code)]
    optimizer = words.in_scope(cause.optimizer or "optimizer", code)
    return words.say(
        cause,
        title=_title(cause),
        why=f"{words.code(code or here.ask)} only computes the gradients; no `{here.step}` gets them, "
        "so nothing changes.",
        fix=f"add {here.applied(optimizer, rewrite.assigned(code) or 'grads', asked[0])}",
    )


def _not_stepped(cause: NoStep) -> Finding:
    here = cause.dialect
    line = words.code(words.source(cause) or here.differentiate)
    call = f"`{cause.optimizer}.{here.step}`" if cause.optimizer else f"the optimizer's `{here.step}`"
    return words.say(
        cause,
        title=_title(cause),
        why=f"{line} computes the gradients; no optimizer step follows before they are cleared, or at all.",
        fix=f"call {call} after {line}",
    )


def _title(cause: NoStep) -> str:
    return f"{words.who(cause).does('gets', 'get')} gradients that are never applied"


RULE = Rule(PAGE, phrase, NoStep)
