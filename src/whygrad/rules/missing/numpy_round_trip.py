"""numpy-round-trip: the value left the framework and came back as a fresh tensor.

Reads the details ``left`` (how it left), ``back`` (how it came back, empty where unknown), ``back_line`` and
``many`` (it was a list of tensors).
"""

import re
from collections.abc import Mapping

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="numpy-round-trip",
    family="missing",
    summary="the value left the framework (`.item()`, `.numpy()`, `float()`) and came back as a fresh tensor",
    what="On the way to the loss a tensor became plain numbers, through `.item()`, `.numpy()`, `.tolist()`, "
    "`float()` or `torch.tensor(tensor)`, and was made into a tensor again. In TensorFlow also through "
    "`np.clip` and its like, `model.predict` or `tf.numpy_function`.",
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
    "of `torch.tensor(values)`, and use `.item()` only for logging and for the environment. In "
    "TensorFlow: `tf.stack`, `tf.clip_by_value`, and `model(x)` instead of `model.predict(x)`.",
    avoid="`torch.tensor(loss, requires_grad=True)` starts a new graph that ends at itself.",
    site="where the value left; where it came back is in the chain",
    bad_tensorflow="""\
with tf.GradientTape() as tape:
    q = tf.gather(q_net.predict(state), action, axis=1, batch_dims=1)
    loss = tf.reduce_mean(tf.square(target - q))
grads = tape.gradient(loss, q_net.trainable_variables)  # all None""",
    good_tensorflow="""\
with tf.GradientTape() as tape:
    q = tf.gather(q_net(state), action, axis=1, batch_dims=1)
    loss = tf.reduce_mean(tf.square(target - q))
grads = tape.gradient(loss, q_net.trainable_variables)""",
)

_METHODS = (".item()", ".numpy()", ".tolist()")
_TORCH_NAMES = {"clip": "clamp", "concatenate": "cat", "array": "stack", "expand_dims": "unsqueeze"}
_COPY = "(tensor)"
_COPIES = re.compile(
    r"torch\.(as_tensor|tensor|asarray|from_numpy|FloatTensor|Tensor)\(.*\.(item|numpy|tolist)\("
)

_TAPE_COPIES = re.compile(r"\b(constant|convert_to_tensor|Variable)\(.*\.(numpy|item|tolist)\(")
_TF_NAMES = {
    "clip": "tf.clip_by_value",
    "mean": "tf.reduce_mean",
    "sum": "tf.reduce_sum",
    "max": "tf.reduce_max",
    "min": "tf.reduce_min",
    "maximum": "tf.maximum",
    "minimum": "tf.minimum",
    "square": "tf.square",
    "abs": "tf.abs",
    "exp": "tf.exp",
    "log": "tf.math.log",
    "sqrt": "tf.sqrt",
    "tanh": "tf.tanh",
    "where": "tf.where",
    "stack": "tf.stack",
    "array": "tf.stack",
    "concatenate": "tf.concat",
    "expand_dims": "tf.expand_dims",
    "squeeze": "tf.squeeze",
    "reshape": "tf.reshape",
    "cumsum": "tf.cumsum",
}


def phrase(cause: Cause) -> Finding:
    """Put a round trip through plain numbers into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    left = cause.details.get("left", "plain numbers")
    how = f"copied by {left}" if left.endswith(_COPY) else f"the value leaves PyTorch through {left}"
    return words.say(
        cause,
        title=words.starved(cause, how),
        why=_why(cause, left),
        fix=_fix(left, words.source(cause), cause.details),
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


def _fix(left: str, code: str, details: Mapping[str, str]) -> str:
    maker = left.removesuffix(_COPY)
    if details.get("many") and re.search(rf"{re.escape(maker)}\([\w.]+\)", code):
        return f"write {words.code(code.replace(f'{maker}(', 'torch.stack('))}"
    back = details.get("back", "")
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


def _on_tensorflow(cause: Cause) -> Finding:
    left, code = cause.details.get("left", "plain numbers"), words.source(cause)
    by, why = f"the value leaves TensorFlow through {left}", _why(cause, left)
    avoid = "`tf.Variable` or `tf.convert_to_tensor` around the numbers: a tensor again, and still a constant"
    if left.endswith(_COPY):
        by = f"copied by {left}"
    elif left.startswith("model."):
        method = left.removeprefix("model.")
        written = re.search(rf"[\w.\[\]]+\.{method}\b", code)
        by = f"it goes through {written[0] if written else left}"
        why = f"`{method}` runs outside of the tape and returns a NumPy array: to the tape, a constant."
        avoid = f"`tf.convert_to_tensor` around `{method}(...)`: a tensor again, and still a constant"
    elif left.endswith("numpy_function"):
        why = f"`{left}` runs plain Python on NumPy arrays, which no tape sees: its result is a constant."
        avoid = "`tf.py_function` around NumPy code: it passes gradient only through TensorFlow operations"
    fix = _stay(left, code, cause.details.get("back", ""))
    return words.say(cause, title=words.starved(cause, by), why=why, fix=fix, avoid=avoid)


def _stay(left: str, code: str, back: str) -> str:
    """How to remain in TensorFlow."""
    numpy = re.search(r"\b(?:np|numpy)\.([\w.]+)\(", code)
    if left.startswith("model."):
        new = rewrite.called(code, left.removeprefix("model."))
        return _written(new) if new else "call the model, `model(x)`, not `model.predict(x)`"
    if left.endswith("numpy_function"):
        new = rewrite.applied(code, left)
        itself = _written(new) if new else "call the function itself"
        return f"{itself}, with TensorFlow operations inside; or give it a gradient: `@tf.custom_gradient`"
    if numpy:
        old, name = numpy[0][:-1], _TF_NAMES.get(numpy[1], f"tf.{numpy[1]}")
        new = rewrite.renamed_call(code, old, name, ("axis", "keepdims")) if numpy[1] in _TF_NAMES else None
        new = (rewrite.without_calls(new, "numpy") or new) if new else None
        if new and not re.search(r"\b(?:np|numpy)\.", new) and name != "tf.concat":
            return f"stay in TensorFlow: {_written(new)}"
        return f"stay in TensorFlow: `{name}` on the tensor itself instead of `{old}` on its numbers"
    new = None
    if left.startswith(".") and not _TAPE_COPIES.search(code):
        new = rewrite.without_calls(code, left.strip(".()"))
    elif not left.startswith("."):
        new = rewrite.unwrapped(code, left.removesuffix(_COPY).removesuffix("()"))
    if new is None or new == code:
        return "keep it a tensor all the way to the loss: `tf.stack(values)` instead of lists of numbers"
    stack = " and collect with `tf.stack(...)`" if "append(" in code else ""
    drop = f"; then the `{back}(...)` is not needed" if back and not stack else ""
    return f"{_written(new)}{stack}{drop}"


def _written(new: str) -> str:
    return f"write {words.code(new, words.LONG)}"


RULE = Rule(PAGE, phrase)
