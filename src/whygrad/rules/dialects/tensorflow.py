"""How people speak of TensorFlow and Keras."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whygrad.rules import rewrite
from whygrad.rules.dialects.dialect import Dialect

_CONSTANTS = r"(?i)adv|delta|td\b|td_|returns?\b|\bret\b|target|weight|error|reward|\brew\b"
_FUNCTIONS = {
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
    "softmax": "tf.nn.softmax",
}
_SPOKEN = {
    "stop_gradient": "tf.stop_gradient",
    "numpy_function": "tf.numpy_function",
    "predict": "model.predict",
    "predict_on_batch": "model.predict_on_batch",
    "assign": "Variable.assign",
    "item": ".item()",
    "tolist": ".tolist()",
    "numpy": ".numpy()",
    "__array__": "numpy",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "int()",
}
# What the runtime calls an operation, and what one writes; the rest has one name only.
_WRITTEN = {
    "multinomial": "categorical",
    "top_k": "argsort|sort|top_k",
    "constant": "constant|convert_to_tensor|Variable",
    "floor_div": "floordiv",
}
_TITLED = {"multinomial": "tf.random.categorical", "top_k": "tf.math.top_k", "floor_div": "//"}


def _written(operation: str, line: str) -> str:
    """The operation as the line writes it, ``tf.argmax`` or ``ops.stop_gradient``; nothing elsewhere."""
    names = _WRITTEN.get(operation, re.escape(operation))
    found = set(re.findall(rf"(?<![\w.])(?:tf|tensorflow|keras|ops|K)(?:\.\w+)*\.(?:{names})\b", line))
    return found.pop() if len(found) == 1 else ""


def _spoken(operation: str, line: str) -> str:
    special = operation.startswith("__")
    known = _SPOKEN.get(operation, operation.strip("_") if special else operation)
    return _written(operation, line) or known


def _titled(operation: str, line: str) -> str:
    if "." in operation or " " in operation:
        return operation
    family = re.search(r"(\w+)\([^=]*(?:=.*)?\)\.sample\(", line)
    drawn = operation in ("sample", "multinomial", "categorical", "bernoulli", "poisson")
    if drawn and family:
        return f"{family[1]}.sample()"
    return _TITLED.get(operation, f"{operation}()" if drawn else f"tf.{operation}")


def _let_through(code: str, cut: str) -> str | None:
    return rewrite.factor_only(code, cut, _CONSTANTS) or rewrite.unwrapped(code, cut)


def _extended(asked: str, networks: Sequence[str], alone: Sequence[str]) -> str:
    return " + ".join([asked, *(f"{n}.trainable_variables" for n in networks), *(f"[{n}]" for n in alone)])


_UNLISTED = {
    "attribute": "Keras 3 lists layers and Keras variables; a `tf.Variable` attribute is neither.",
    "plain object": "Keras looks for layers in attributes, lists and dicts, not inside of objects of a plain "
    "class.",
}


def _registered(how: str, code: str) -> str:
    if how == "attribute":
        new = rewrite.renamed_call(code, "tf.Variable", "keras.Variable", ("name", "dtype", "trainable"))
        wrap = "make it with `self.add_weight(...)` or as a `keras.Variable`"
        return f"write `{new}` (or use `self.add_weight`)" if new else wrap
    if how == "plain object":
        return (
            "make that class a `keras.layers.Layer` (with `super().__init__()` and `call`), or use "
            "`keras.Sequential([...])` in its place"
        )
    return "assign the layer in `__init__`, as an attribute: `self.layer = layer`"


TENSORFLOW = Dialect(
    framework="tensorflow",
    title="TensorFlow",
    drawn="`tf.stop_gradient(dist.sample())`",
    surrogate="`-tf.reduce_mean(log_prob * returns)`, with `log_prob = "
    "-tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)`",
    squeezed=lambda column: f"tf.squeeze({column}, axis=-1)",
    differentiate="tape.gradient",
    ask="tape.gradient",
    step="apply_gradients(...)",
    rate="learning_rate",
    rate_of=lambda optimizer: f"float({optimizer}.learning_rate)",
    applied=lambda optimizer, gradients, of: (
        f"`{optimizer}.apply_gradients(zip({gradients}, {of}))` after it"
    ),
    clip_by_norm="tf.clip_by_global_norm",
    apply_clipped="give the clipped gradients to `apply_gradients`",
    parameters="variables",
    eagerly="write `tf.config.run_functions_eagerly(True)` at the beginning (for `fit`: "
    "`compile(run_eagerly=True)`)",
    forward="call",
    modes_switched=False,
    to_train=lambda name: f"call it with `{name}(..., training=True)` under the tape",
    to_evaluate=lambda name: f"call it with `{name}(..., training=False)`",
    stop="tf.stop_gradient",
    stopped=lambda value: f"tf.stop_gradient({value})",
    let_through=_let_through,
    pretended=lambda code: ("a new tf.Variable", "leave the `tf.Variable` out"),
    constant="compute it before the tape is opened",
    hiding='filtering out the `None` gradients, or `unconnected_gradients="zero"`: the message goes away, '
    "the variables still do not learn",
    hiding_unused='filtering out the `None` gradients, or `unconnected_gradients="zero"`: the message goes '
    "away, the variables still do not learn",
    namespace="tf",
    functions=_FUNCTIONS,
    spoken=_spoken,
    titled=_titled,
    maker=_written,
    rewrapped="`tf.Variable` or `tf.convert_to_tensor` around the numbers: a tensor again, and still a "
    "constant",
    to_float="tf.cast(x, tf.float32)",
    custom_gradient="@tf.custom_gradient",
    draws_with_gradient="",
    relaxed="the straight-through form, `p + tf.stop_gradient(one_hot - p)` with `p = tf.nn.softmax(logits)`",
    axis="axis",
    picked="`tf.gather(q, a, axis=1, batch_dims=1)` with the action that was taken",
    frozen="trainable = False",
    thawed=lambda name: f"{name}.trainable = True",
    listed=lambda name: f"{name}.trainable_variables",
    copied=lambda target, online: f"{target}.set_weights({online}.get_weights())",
    cloned=lambda name: f"`keras.models.clone_model({name})`, then `set_weights`",
    shallow="`clone_model` alone: the clone has weights of its own until they are set",
    thawed_before="before `compile` and before the first training step",
    left_out=lambda it, optimizer: f"leave {it} out of the variables that are asked for",
    extended=_extended,
    unmade="a model makes its variables when it is called, or built, for the first time, and the list was "
    "taken "
    "before that",
    made_first="read `model.trainable_variables` after the forward pass, in the same line as "
    "`tape.gradient`; or "
    "build the model first: `model.build((None, n))`, or call it once on a batch",
    unlisted=_UNLISTED,
    registered=_registered,
    saving="`get_weights` and `save_weights`",
    remade=lambda optimizer, network: (
        f"after this line, read `{network}.trainable_variables` again and make a "
        "new optimizer: one that has been used is built for the old variables"
    ),
    reused="`optimizer.build(...)` a second time: an optimizer is built once, the call does nothing",
)
