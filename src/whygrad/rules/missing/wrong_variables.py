"""wrong-variables: gradients are asked for, or applied to, other variables than those meant.

Reads the details ``optimizer``, ``holds`` (what it really holds), ``expected``, ``kind`` and ``line``.
"""

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="wrong-variables",
    family="missing",
    summary="gradients are asked for, or applied to, the variables of another network",
    what="The optimizer of one network was made from the parameters of another, or the gradients of one "
    "network are paired with the variables of another.",
    why="One network is stepped twice, the other never. Both losses print, and the one that nobody follows "
    "simply does not go down.",
    bad="""\
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_loss.backward()
critic_opt.step()  # steps the actor""",
    good="""\
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
critic_loss.backward()
critic_opt.step()""",
    use_instead="Make each optimizer from the parameters of the network that its loss trains. In "
    "TensorFlow, use one name for the list in `tape.gradient` and in `apply_gradients`.",
    site="the call that got the wrong list",
    bad_tensorflow="""\
grads = tape.gradient(actor_loss, critic.trainable_variables)
actor_opt.apply_gradients(zip(grads, actor.trainable_variables))""",
    good_tensorflow="""\
variables = actor.trainable_variables
grads = tape.gradient(actor_loss, variables)
actor_opt.apply_gradients(zip(grads, variables))""",
)


def phrase(cause: Cause) -> Finding:
    """Put an optimizer of the wrong network into words."""
    if cause.details.get("kind") == "local":
        return _local(cause)
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    details, who, code = cause.details, words.who(cause), words.source(cause)
    optimizer = details.get("optimizer") or cause.optimizer or "the optimizer"
    holds = details.get("holds") or "other parameters"
    expected = details.get("expected") or str(who)
    new = rewrite.with_name(code, words.in_scope(holds, code), words.in_scope(expected, code))
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: {optimizer} holds {holds}, not {expected}",
        why=f"The loss leaves its gradients in {expected}, and {optimizer}.step() applies what it finds in "
        f"{holds}.",
        fix=f"write {words.code(new)}" if new else f"make {optimizer} from the parameters of {expected}",
    )


def _local(cause: Cause) -> Finding:
    """A worker that trains its own copy."""
    details, who, code = cause.details, words.who(cause), words.source(cause)
    holds = details.get("holds") or "a copy"
    expected = details.get("expected") or str(who)
    line = f" at line {details['line']}" if details.get("line") else ""
    new = rewrite.with_name(code, words.in_scope(holds, code), words.in_scope(expected, code))
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: the steps go into {holds}, a copy that is "
        f"overwritten again",
        why=f"The copy{line} gives {holds} the weights of {expected}, which nobody trains: each time, what "
        f"{holds} has learnt is lost.",
        fix=f"write {words.code(new, words.LONG)}"
        if new
        else f"compute the gradients with {holds} and apply them to the parameters of {expected}",
    )


def _on_tensorflow(cause: Cause) -> Finding:
    details, who, code = cause.details, words.who(cause), words.source(cause)
    holds = details.get("holds") or "another network"
    expected = details.get("expected") or str(who)
    new = rewrite.with_name(code, words.in_scope(holds, code), words.in_scope(expected, code))
    own = "their own" if who.several else "its own"
    if ".apply_gradients(" in code and ".gradient(" not in code:
        title = f"{who.does('never changes', 'never change')}: the gradients are applied to {holds}"
        crossed = f"the gradients of {expected} change {holds}."
    else:
        title = f"{who.does('is', 'are')} moved by the gradients of {holds}, not by {own}"
        crossed = f"the gradients of {holds} change {expected}."
    return words.say(
        cause,
        title=title,
        why=f"`apply_gradients` pairs gradients and variables by their position in the lists: {crossed}",
        fix=f"write {words.code(new, words.LONG)}"
        if new
        else f"use one list, `variables = {expected}.trainable_variables`, for `tape.gradient` and "
        "`apply_gradients` alike",
    )


RULE = Rule(PAGE, phrase)
