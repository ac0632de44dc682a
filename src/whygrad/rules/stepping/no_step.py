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
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoStep(Cause):
    """Gradients that move nothing."""

    rule: ClassVar[str] = PAGE.slug
    rate_zero: bool = False  # they are applied, times zero
    asked: bool = False  # the call gives the gradients to its caller and stores none


def phrase(cause: NoStep) -> Finding:
    """Put gradients that nobody applies into words."""
    if cause.rate_zero:
        return _times_zero(cause)
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
