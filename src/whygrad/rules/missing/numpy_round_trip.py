"""numpy-round-trip: the value left the framework and came back as a fresh tensor.

Reads the details ``left`` (how it left), ``back`` (how it came back, empty where unknown) and ``back_line``.
"""

import re

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="numpy-round-trip",
    family="missing",
    summary="the value left the framework (`.item()`, `.numpy()`, `float()`) and came back as a fresh tensor",
    what="On the way to the loss a tensor became plain numbers, through `.item()`, `.numpy()`, `.tolist()`, "
    "`float()` or `torch.tensor(tensor)`, and was made into a tensor again.",
    why="Plain numbers have no history. The tensor that comes back is a new leaf; with "
    "`requires_grad=True` the script even runs, and `backward` ends at that leaf.",
    bad="""\
loss = 0.0
for log_prob, ret in zip(log_probs, returns):
    loss -= log_prob.item() * ret
loss = torch.tensor(loss, requires_grad=True)
loss.backward()  # no error, and the policy never moves""",
    good="""\
loss = 0.0
for log_prob, ret in zip(log_probs, returns):
    loss -= log_prob * ret
loss.backward()""",
    use_instead="Keep it a tensor from the network to the loss. Collect with `torch.stack(values)` instead "
    "of `torch.tensor(values)`, and use `.item()` only for logging and for the environment.",
    avoid="`torch.tensor(loss, requires_grad=True)` starts a new graph that ends at itself.",
    site="where the value left; where it came back is in the chain",
)

_METHODS = (".item()", ".numpy()", ".tolist()")
_TORCH_NAMES = {"clip": "clamp", "concatenate": "cat", "array": "stack", "expand_dims": "unsqueeze"}
_COPY = "(tensor)"
_COPIES = re.compile(
    r"torch\.(as_tensor|tensor|asarray|from_numpy|FloatTensor|Tensor)\(.*\.(item|numpy|tolist)\("
)


def phrase(cause: Cause) -> Finding:
    """Put a round trip through plain numbers into words."""
    left = cause.details.get("left", "plain numbers")
    how = f"copied by {left}" if left.endswith(_COPY) else f"the value leaves PyTorch through {left}"
    return words.say(
        cause,
        title=words.starved(cause, how),
        why=_why(cause, left),
        fix=_fix(left, words.source(cause), cause.details.get("back", "")),
        avoid="`torch.tensor(..., requires_grad=True)`: the error goes away, and `backward` ends at the new "
        "tensor",
    )


def _why(cause: Cause, left: str) -> str:
    if left.endswith(_COPY):
        return f"`{left}` copies the numbers of a tensor and none of their history."
    back = cause.details.get("back", "")
    again = f"`{back}`{words.at(cause.details.get('back_line', ''))}" if back else "the tensor made of them"
    return (
        f"`{left}` gives plain numbers, without history; {again} is a new constant that only looks the same."
    )


def _fix(left: str, code: str, back: str) -> str:
    numpy = re.search(r"\bnp\.(\w+)\(", code)
    if numpy:
        name = _TORCH_NAMES.get(numpy[1], numpy[1])
        return (
            f"stay in PyTorch: `torch.{name}` on the tensor itself instead of `np.{numpy[1]}` on its numbers"
        )
    new = _rewritten(left, code)
    if new is None or new == code:
        return "keep it a tensor all the way to the loss: `torch.stack(values)` instead of lists of numbers"
    stack = " and collect with `torch.stack(...)`" if "append(" in code else ""
    drop = f"; then the `{back}(...)` is not needed" if back and not stack else ""
    return f"write {words.code(new)}{stack}{drop}"


def _rewritten(left: str, code: str) -> str | None:
    if left in _METHODS and _COPIES.search(code):
        return None  # torch.tensor(x.item()) would still be a copy without the .item()
    if left in _METHODS:
        return rewrite.without_calls(code, left.strip(".()"), "detach", "cpu")
    return rewrite.unwrapped(code, left.removesuffix(_COPY).removesuffix("()"))


RULE = Rule(PAGE, phrase)
