"""no-step: gradients are computed and never applied.

Reads the details ``kind`` (``never-stepped``, ``lr-zero``).
"""

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="no-step",
    family="missing",
    summary="gradients are computed and never applied: no `step()`, or a learning rate of 0",
    what="`backward` (or `tape.gradient`) computes the gradients, and then no optimizer step uses them; or "
    "every step has learning rate 0.",
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


def phrase(cause: Cause) -> Finding:
    """Put gradients that nobody applies into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    who, optimizer = words.who(cause), cause.optimizer
    if cause.details.get("kind") == "lr-zero":
        return words.say(
            cause,
            title=f"{who.does('never changes', 'never change')}: the learning rate is 0",
            why=f"{optimizer or 'The optimizer'} multiplies every gradient by a learning rate of 0.",
            fix="give `lr` a value above 0; with a scheduler, check its first value and that "
            "`scheduler.step()` is called",
        )
    call = f"`{optimizer}.step()`" if optimizer else "the optimizer's `step()`"
    line = words.code(words.source(cause)) if words.source(cause) else "`backward()`"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} gradients that are never applied",
        why=f"{line} computes the gradients; no optimizer step follows before they are cleared, or at all.",
        fix=f"call {call} after {line}",
    )


def _on_tensorflow(cause: Cause) -> Finding:
    who, code = words.who(cause), words.source(cause)
    optimizer = cause.optimizer or "optimizer"
    if cause.details.get("kind") == "lr-zero":
        return words.say(
            cause,
            title=f"{who.does('never changes', 'never change')}: the learning rate is 0",
            why=f"{cause.optimizer or 'The optimizer'} multiplies every gradient by a learning rate of 0.",
            fix=f"give `learning_rate` a value above 0 (`print(float({optimizer}.learning_rate))` shows what "
            "arrives: integer division and schedules that start at 0 are the usual reasons)",
        )
    grads = rewrite.assigned(code) or "grads"
    asked = rewrite.arguments_of(code, "gradient")[1:2] or [words.variables(cause, code)]
    call = f"`{words.in_scope(optimizer, code)}.apply_gradients(zip({grads}, {asked[0]}))`"
    line = words.code(code) if code else "`tape.gradient(...)`"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} gradients that are never applied",
        why=f"{line} only computes the gradients; no `apply_gradients` gets them, so nothing changes.",
        fix=f"add {call} after it",
    )


RULE = Rule(PAGE, phrase)
