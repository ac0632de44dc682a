"""Everything of TensorFlow that is not public, looked up once. What is gone is said in the report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import tensorflow as tf

from whygrad.frameworks.shared.objects import FRAMEWORKS, is_of, module_of, shown

_TRACKING = "tensorflow.python.trackable.data_structures"


def _find(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None


_op_callbacks = _find("tensorflow.python.framework", "op_callbacks")
_tf_stack = _find("tensorflow.python.util", "tf_stack")
_registry = _find("tensorflow.python.framework.ops", "gradient_registry")
_context = _find("tensorflow.python.eager", "context")
_xla_above = _find("tensorflow.python.ops.control_flow_util", "GraphOrParentsInXlaContext")

#: Looked up, not made: a first tensor would start the runtime before the user has configured it.
EAGER_TENSOR: Any = _find("tensorflow.python.framework.ops", "EagerTensor")
#: The class whose Python methods turn eager tensors into numbers and arrays.
CONVERTIBLE: Any = _find("tensorflow.python.framework.ops", "_EagerTensorBase") or EAGER_TENSOR
#: A traced function; ``_call_flat`` is how all of its calls go.
CONCRETE: Any = _find("tensorflow.python.eager.polymorphic_function.concrete_function", "ConcreteFunction")
#: What ``tf.function`` makes.
FUNCTION: Any = _find("tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function")
#: The class of all variables with a resource handle.
VARIABLE: Any = _find("tensorflow.python.ops.resource_variable_ops", "BaseResourceVariable")
#: What ``tf.Variable`` makes.
RESOURCE: Any = _find("tensorflow.python.ops.resource_variable_ops", "ResourceVariable") or VARIABLE
#: The module through which all eager operations go to the runtime.
RUNTIME: Any = _find("tensorflow.python", "pywrap_tfe")
#: Where plain data becomes an eager tensor.
CONSTANTS: Any = _find("tensorflow.python.framework", "constant_op")
#: Where gradients are clipped.
CLIPS: Any = _find("tensorflow.python.ops", "clip_ops")
#: Where autograph writes the frames of an error in traced code into its message.
ERRORS: Any = _find("tensorflow.python.autograph.pyct", "error_utils")

_NEEDED = {
    "eager operations": _op_callbacks,
    "what a compiled function does": CONCRETE,
    "reads of variables in eager code": RUNTIME,
    "where variables were made": VARIABLE,
    "which operations have no gradient": _registry,
}


def keras_backend() -> str:
    """The framework that Keras 3 runs on. Gone: TensorFlow."""
    return getattr(sys.modules.get("keras.src.backend.config"), "_BACKEND", "tensorflow")


def unseen() -> list[str]:
    """What this version of TensorFlow does not let us see."""
    return [what for what, found in _NEEDED.items() if found is None]


def add_op_callback(callback: Callable[..., Any]) -> None:
    """Be told of every operation of this thread."""
    if _op_callbacks is not None:
        _op_callbacks.add_op_callback(callback)


def remove_op_callback(callback: Callable[..., Any]) -> None:
    """No longer."""
    if _op_callbacks is not None:
        with suppress(KeyError):
            _op_callbacks.remove_op_callback(callback)


def is_tensor(value: Any) -> bool:
    """``tf.is_tensor`` for what a framework has made; nobody else's object is asked."""
    return is_of(value, FRAMEWORKS) and bool(tf.is_tensor(value))


def unwrapped(value: Any) -> Any:
    """A container as the user gave it: an attribute of a module is a proxy of TensorFlow's around it."""
    if module_of(type(value)) != _TRACKING:
        return value
    inner = shown(value, "__wrapped__")
    return value if inner is None else inner


def identity(tensor: Any) -> int:
    """A number that no other eager tensor has or will have; 0 if there is none."""
    return getattr(tensor, "_id", 0)


def contents(tensor: Any) -> Any:
    """The values of an eager tensor as an array, without running an operation; nothing if it cannot be."""
    try:
        return tensor._numpy()
    except Exception:  # resources and variants have no values
        return None


def read(handles: list[Any], dtypes: list[Any]) -> list[Any]:
    """What resources hold now, as tensors that share their memory: one operation where that is possible."""
    if len(handles) > 1 and RUNTIME is not None and _context is not None and only_cpu():
        with suppress(Exception):  # it is no public operation
            context = _context.context()
            found = RUNTIME.TFE_Py_FastPathExecute(
                context, "_ReadVariablesOp", None, handles, "dtypes", dtypes
            )
            return list(found)
    pairs = zip(handles, dtypes, strict=True)
    return [tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype) for handle, dtype in pairs]


@cache
def only_cpu() -> bool:
    """Is there one device only, so that everything is in one memory?"""
    return [device.device_type for device in tf.config.list_logical_devices()] == ["CPU"]


def in_xla(graph: Any) -> bool:
    """Will XLA compile what is traced here? It does not know all operations."""
    return _xla_above is None or bool(_xla_above(graph))


def has_gradient(op_type: str) -> bool | None:
    """Is a gradient function registered? ``None`` if this cannot be known."""
    if _registry is None:
        return None
    try:
        return _registry.lookup(op_type) is not None
    except LookupError:
        return False


def told_frames() -> Iterable[tuple[str, int, str]]:
    """The stack with autograph's code mapped back to the user's lines, innermost first."""
    if _tf_stack is not None:
        frames = _tf_stack.extract_stack()
    else:
        with tf.Graph().as_default():
            frames = tf.no_op().traceback
    return [(f.filename, f.lineno, f.name) for f in reversed(list(frames))]


def function_graph(graph: Any, name: str) -> Any:
    """The body of a function that operations of ``graph`` call."""
    while graph is not None:
        known = getattr(graph, "_functions", {}).get(name)
        if known is None and hasattr(graph, "_get_function"):
            known = graph._get_function(name)
        if known is not None:
            return getattr(known, "graph", None)
        graph = getattr(graph, "outer_graph", None)
    return None
