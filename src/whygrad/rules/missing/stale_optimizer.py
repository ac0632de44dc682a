"""stale-optimizer: the optimizer holds parameters that the model no longer uses.

Reads the details ``optimizer``, ``optimizer_line`` and ``how`` (``replaced``, ``rebuilt``, ``loaded``).
"""

import re

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="stale-optimizer",
    family="missing",
    summary="the optimizer holds parameters that the model no longer uses",
    what="A layer was replaced, or the model was rebuilt or re-loaded, after the optimizer was made.",
    why="An optimizer holds parameters, not names. It goes on stepping the old ones, which nothing uses; the "
    "new ones get gradients that nobody applies. The loss prints as always.",
    bad="""\
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
policy = torch.load("policy.pt", weights_only=False)
loss = compute_loss(policy, batch)
loss.backward()
optimizer.step()  # steps the network that was thrown away""",
    good="""\
policy = torch.load("policy.pt", weights_only=False)
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
loss = compute_loss(policy, batch)
loss.backward()
optimizer.step()""",
    use_instead="Make the optimizer after the last change of the model, or change values instead of objects: "
    "`policy.load_state_dict(...)`, `layer.reset_parameters()`. In TensorFlow also read "
    "`trainable_variables` again.",
    avoid="`optimizer.load_state_dict(...)` restores moments, not which parameters are held.",
    site="where the layer or the model was replaced",
    bad_tensorflow="""\
optimizer = keras.optimizers.Adam(3e-4)
train(policy, optimizer)
policy.head = keras.layers.Dense(2)
train(policy, optimizer)  # Keras 3 stops: unknown variable""",
    good_tensorflow="""\
optimizer = keras.optimizers.Adam(3e-4)
train(policy, optimizer)
policy.head = keras.layers.Dense(2)
optimizer = keras.optimizers.Adam(3e-4)
train(policy, optimizer)""",
)

_LOADED = re.compile(r"=.*\b(torch\.load|ckpt|checkpoint|loaded)\b")
_DID = {
    "replaced": "puts new parameters in place",
    "rebuilt": "builds the model anew",
    "loaded": "puts a loaded network in place",
}


def phrase(cause: Cause) -> Finding:
    """Put an optimizer that was left behind into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    details, who, code = cause.details, words.who(cause), words.source(cause)
    optimizer = details.get("optimizer") or cause.optimizer or "the optimizer"
    made = words.at(details.get("optimizer_line", ""))
    line = words.code(code) if code else "this line"
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: {optimizer} still holds the old parameters",
        why=f"{line} {_DID.get(details.get('how', ''), _DID['replaced'])} after {optimizer} was made{made}. "
        f"The optimizer goes on stepping the old ones, which nothing uses.",
        fix=_fix(details.get("how", ""), code, optimizer),
        avoid="`optimizer.load_state_dict(...)`: it restores moments, not which parameters are held",
    )


def _fix(how: str, code: str, optimizer: str) -> str:
    new = rewrite.loaded_into(code) if how == "loaded" or _LOADED.search(code) else None
    remake = f"make {optimizer} after this line, from the new parameters"
    return f"write {words.code(new)}; or {remake}" if new else remake


def _on_tensorflow(cause: Cause) -> Finding:
    details, who, code = cause.details, words.who(cause), words.source(cause)
    optimizer = details.get("optimizer") or cause.optimizer or "the optimizer"
    made = words.at(details.get("optimizer_line", ""))
    line = words.code(code) if code else "This line"
    owner = words.in_scope(words.networks(cause).partition(", ")[0], code) or "model"
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: {optimizer} knows only the old variables",
        why=f"{line} puts new variables in place; {optimizer}{made} goes on with the old ones.",
        fix=f"after this line, read `{owner}.trainable_variables` again and make a new optimizer: one that "
        "has been used is built for the old variables",
        avoid=f"`{optimizer}.build(...)` a second time: an optimizer is built once, the call does nothing",
    )


RULE = Rule(PAGE, phrase)
