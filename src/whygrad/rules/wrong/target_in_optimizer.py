"""target-in-optimizer: an optimizer holds the target network's parameters.

Reads the details ``optimizer`` and ``harmless``.
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="target-in-optimizer",
    family="wrong",
    summary="an optimizer holds the target network's parameters",
    what="The parameters of a network that follows another one by copies are in an optimizer, too.",
    why="Where a gradient reaches them, the target learns by itself between the syncs. Where none does, the "
    "step "
    "passes them by, and only a missing `detach` is needed to change that.",
    bad="""\
target_net = copy.deepcopy(q_net)
parameters = [*q_net.parameters(), *target_net.parameters()]
optimizer = torch.optim.AdamW(parameters)""",
    good="""\
target_net = copy.deepcopy(q_net)
parameters = [*q_net.parameters()]
optimizer = torch.optim.AdamW(parameters)""",
    use_instead="Give the optimizer the online network only.",
    site="where the optimizer is made; in TensorFlow the call that applies the gradients",
    bad_tensorflow="""\
variables = q_net.trainable_variables + target_net.trainable_variables
grads = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(grads, variables))""",
    good_tensorflow="""\
variables = q_net.trainable_variables
grads = tape.gradient(loss, variables)
optimizer.apply_gradients(zip(grads, variables))""",
)


def phrase(cause: Cause) -> Finding:
    """Put a target network in an optimizer into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    who, optimizer = words.who(cause), cause.details.get("optimizer", "") or "the optimizer"
    if cause.details.get("harmless"):
        return words.say(
            cause,
            title=f"{optimizer} holds {who}, a target network, which gets no gradient",
            why=f"A step passes by what has no gradient, so nothing is learnt wrongly; a single missing "
            f"`detach` "
            f"would let {optimizer} train {who}.",
            fix=f"leave {who} out of {optimizer}",
        )
    return words.say(
        cause,
        title=f"{optimizer} holds {who}, a target network",
        why=f"{who.does('follows', 'follow')} another network by copies and must not be trained; "
        f"{optimizer} steps "
        f"on {who.it}, too.",
        fix=f"leave {who} out of {optimizer}",
    )


def _on_tensorflow(cause: Cause) -> Finding:
    who, optimizer = words.who(cause), cause.details.get("optimizer", "") or "the optimizer"
    fix = f"leave the variables of {who} out of the list for `tape.gradient` and `apply_gradients`"
    if cause.details.get("harmless"):
        return words.say(
            cause,
            title=f"{optimizer} is given {who}, a target network, without a gradient",
            why="A step passes by what has no gradient, so nothing is learnt wrongly; without "
            f"`tf.stop_gradient`, or under another tape, {optimizer} would train {who}.",
            fix=fix,
        )
    return words.say(
        cause,
        title=f"{optimizer} trains {who}, a target network",
        why=f"{who.does('follows', 'follow')} another network by copies and must not be trained; the "
        f"gradients that this call applies are {'theirs' if who.several else 'its'}, too.",
        fix=fix,
    )


RULE = Rule(PAGE, phrase)
