"""frozen: ``requires_grad`` is off for a parameter that is meant to learn.

Reads the details ``how`` (the words that froze it, e.g. ``requires_grad = False``).
"""

import re

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
)


def phrase(cause: Cause) -> Finding:
    """Put a frozen parameter into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    who, code = words.who(cause), words.source(cause)
    how = cause.details.get("how", "")
    how = how if "False" in how else "requires_grad = False"
    holder = cause.optimizer or "an optimizer"
    line = words.code(code) if code else f"`{how}`"
    on = ", ".join(f"`{words.in_scope(name, code)}.requires_grad_(True)`" for name in who.names[:3])
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: frozen by {how}",
        why=f"{line} switches gradients off for {who}, which {holder} should train; nothing switches them on "
        "again before that update.",
        fix=f"switch gradients on again before the update: {on}; or, if {who.they} should stay frozen, take "
        f"{who.it} out of {holder}",
        avoid=words.no_fake_root(cause),
    )


def _on_tensorflow(cause: Cause) -> Finding:
    who, code = words.who(cause), words.source(cause)
    born = re.search(r"[,(]\s*trainable\s*=\s*False", code)
    if born:
        made = rewrite.without_keyword(code, "trainable")
        why = f"`trainable=False`: a tape does not watch {who}, and the gradient that is asked for is `None`."
        fix = f"write {words.code(made, words.LONG)}" if made else "leave `trainable=False` out"
    else:
        line = words.code(code) if code else "`trainable = False`"
        why = f"{line} takes {who} out of `trainable_variables`; nothing sets it back before the update."
        owners = dict.fromkeys(words.in_scope(words.attribute(name), code) for name in who.names[:3])
        on = ", ".join(f"`{owner}.trainable = True`" for owner in owners)
        fix = f"set {on} again, before `compile` and before the first training step"
    its = "their gradients" if who.several else "its gradient"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: frozen by trainable{'=' if born else ' = '}False",
        why=why,
        fix=f"{fix}; or, if {who.they} should stay frozen, do not ask for {its}" if born else fix,
        avoid=words.no_filtering(cause) if born else "",
    )


RULE = Rule(PAGE, phrase)
