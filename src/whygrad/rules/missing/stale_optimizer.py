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
    "`policy.load_state_dict(...)`, `layer.reset_parameters()`.",
    avoid="`optimizer.load_state_dict(...)` restores moments, not which parameters are held.",
    site="where the layer or the model was replaced",
)

_LOADED = re.compile(r"=.*\b(torch\.load|ckpt|checkpoint|loaded)\b")
_DID = {
    "replaced": "puts new parameters in place",
    "rebuilt": "builds the model anew",
    "loaded": "puts a loaded network in place",
}


def phrase(cause: Cause) -> Finding:
    """Put an optimizer that was left behind into words."""
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


RULE = Rule(PAGE, phrase)
