"""How people speak of JAX, Flax and Optax."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whygrad.rules import rewrite
from whygrad.rules.dialects.dialect import Dialect

_CONSTANTS = r"(?i)adv|delta|td\b|td_|returns?\b|\bret\b|target|weight|error|reward|\brew\b"
_FUNCTIONS = {"sigmoid": "jax.nn.sigmoid", "softmax": "jax.nn.softmax", "relu": "jax.nn.relu"}
_SPOKEN = {
    "stop_gradient": "jax.lax.stop_gradient",
    "categorical": "jax.random.categorical",
    "bernoulli": "jax.random.bernoulli",
    "astype": ".astype()",
    "__array__": "numpy",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "int()",
    "__bool__": "bool()",
    "item": ".item()",
    "tolist": ".tolist()",
    "pure_callback": "jax.pure_callback",
    "io_callback": "jax.experimental.io_callback",
}
# What JAX calls an operation, and what one writes; the rest has one name only.
_WRITTEN = {"data": "array|asarray", "one_hot": "one_hot", "astype": "astype"}
_BARE = ("floor_divide", "//")


def _written(operation: str, line: str) -> str:
    """The operation as the line writes it, ``jnp.argmax`` or ``lax.stop_gradient``; nothing elsewhere."""
    names = _WRITTEN.get(operation, re.escape(operation))
    found = set(re.findall(rf"(?<![\w.])(?:jax|jnp|lax|nn|np|distrax|optax)(?:\.\w+)*\.(?:{names})\b", line))
    return found.pop() if len(found) == 1 else ""


def _spoken(operation: str, line: str) -> str:
    special = operation.startswith("__")
    known = _SPOKEN.get(operation, operation.strip("_") if special else operation)
    return _written(operation, line) or known


def _titled(operation: str, line: str) -> str:
    if "." in operation or " " in operation:
        return operation
    family = re.search(r"(\w+)\([^=]*(?:=.*)?\)\.sample\(", line)
    if operation in ("sample", "categorical", "bernoulli") and family:
        return f"{family[1]}.sample()"
    return _BARE[1] if operation == _BARE[0] else f"{operation}()"


def _let_through(code: str, cut: str) -> str | None:
    return rewrite.factor_only(code, cut, _CONSTANTS) or rewrite.unwrapped(code, cut)


def _extended(asked: str, networks: Sequence[str], alone: Sequence[str]) -> str:
    return "(" + ", ".join([asked, *networks, *alone]) + ")"


def _registered(how: str, code: str) -> str:
    return "put it into the tree that `init` gives: `self.param(...)`, or a submodule made in `setup`"


JAX = Dialect(
    framework="jax",
    title="JAX",
    drawn="`jax.lax.stop_gradient(action)`",
    surrogate="`-jnp.mean(log_prob * returns)`, with `log_prob = "
    "jax.nn.log_softmax(logits)[jnp.arange(len(action)), action]`",
    squeezed=lambda column: f"jnp.squeeze({column}, axis=-1)",
    differentiate="jax.grad",
    ask="jax.grad",
    step="apply_updates(...)",
    rate="learning_rate",
    rate_of=lambda optimizer: f"the learning rate that `{optimizer}` was made with",
    applied=lambda optimizer, gradients, of: (
        f"`updates, opt_state = {optimizer}.update({gradients}, opt_state)` and "
        f"`{of} = optax.apply_updates({of}, updates)` after it"
    ),
    clip_by_norm="optax.clip_by_global_norm",
    apply_clipped="put the clip in front of the optimizer: `optax.chain(optax.clip_by_global_norm(c), tx)`",
    parameters="parameters",
    eagerly="write `jax.config.update('jax_disable_jit', True)` at the beginning",
    forward="__call__",
    modes_switched=False,
    to_train=lambda name: f"call it with `train=True` (`deterministic=False`) where `{name}` is trained",
    to_evaluate=lambda name: f"call it with `train=False` (`deterministic=True`): `{name}`",
    stop="jax.lax.stop_gradient",
    stopped=lambda value: f"jax.lax.stop_gradient({value})",
    let_through=_let_through,
    pretended=lambda code: ("a new array", "differentiate the value itself"),
    constant="compute it before the function that `jax.grad` differentiates",
    hiding="adding a small penalty on the parameters: their gradient is no longer zero, and they learn "
    "nothing but that",
    hiding_unused="adding a small penalty on the parameters: their gradient is no longer zero, and they "
    "learn nothing but that",
    namespace="jnp",
    functions=_FUNCTIONS,
    spoken=_spoken,
    titled=_titled,
    maker=_written,
    rewrapped="`jnp.asarray` around the numbers: an array again, and still a constant",
    to_float="x.astype(jnp.float32)",
    custom_gradient="@jax.custom_vjp",
    draws_with_gradient="",
    relaxed="the straight-through form, `p + jax.lax.stop_gradient(one_hot - p)` with "
    "`p = jax.nn.softmax(logits)`",
    axis="axis",
    picked="`q[jnp.arange(len(a)), a]` with the action that was taken",
    frozen="optax.set_to_zero()",
    thawed=lambda name: f"train {name} with an optimizer of its own in `optax.multi_transform`",
    listed=lambda name: name,
    copied=lambda target, online: f"{target} = {online}",
    cloned=lambda name: f"`jax.tree.map(jnp.copy, {name})`",
    shallow="`copy.copy`: the module of Equinox or nnx is another one, its arrays are the same",
    thawed_before="when the optimizer is made",
    left_out=lambda it, optimizer: f"leave {it} out of what `jax.grad` is asked for, and of `{optimizer}`",
    extended=_extended,
    unmade="the tree is empty: `init` was called on a module without parameters",
    made_first="call `init` with an example of the input, and give what it returns to the optimizer",
    unlisted={},
    registered=_registered,
    saving="what is saved of the tree",
    remade=lambda optimizer, network: (
        f"after this line, make the state anew: `opt_state = {optimizer}.init({network})`"
    ),
    reused="the old `opt_state` with the new tree: its moments belong to other parameters",
)
