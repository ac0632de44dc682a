"""What JAX's operations are called by people, and through which of them gradient flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whygrad.frameworks.jax import private

_NAMES = {
    "subtract": "sub",
    "multiply": "mul",
    "true_divide": "div",
    "divide": "div",
    "negative": "neg",
    "power": "pow",
    "float_power": "pow",
    "integer_pow": "pow",
    "absolute": "abs",
    "fabs": "abs",
    "add_any": "add",
    "reduce_sum": "sum",
    "reduce_max": "max",
    "reduce_min": "min",
    "nanmean": "mean",
    "average": "mean",
    "nansum": "sum",
    "convert_element_type": "astype",
    "logistic": "sigmoid",
    "expit": "sigmoid",
    "select_n": "where",
    "select": "where",
    "reduce_precision": "astype",
    "clamp": "clip",
    "cross_entropy_loss": "cross_entropy",
    "normal_real": "normal",
    "truncated_normal_real": "truncated_normal",
    "copy_p": "copy",
    "device_put": "copy",
    "dynamic_slice": "slice",
    "argmin": "argmax",
    "custom_jvp_call": "custom_jvp",
    "custom_vjp_call": "custom_vjp",
    "custom_vjp_call_jaxpr": "custom_vjp",
}
# The primitives ``max`` and ``min`` compare two values; the functions of these names look for one in many.
_BARE = {"max": "maximum", "min": "minimum"}
# Arithmetic in which a plain number may stand, and what it is called when the number comes first.
_REVERSED = {"sub": "rsub", "div": "rdiv", "pow": "rpow", "add": "add", "mul": "mul"}
_WITH_NUMBERS = frozenset((*_REVERSED, "maximum", "minimum"))
#: The derivative of these is nothing, or zero everywhere.
NOTHING = frozenset(
    (
        *("stop_gradient", "round", "rint", "sign", "floor", "ceil", "trunc", "fix", "floor_divide"),
        *("argmax", "argsort", "searchsorted", "digitize", "heaviside", "nextafter", "eq", "signbit"),
        *("pure_callback", "io_callback", "one_hot", "categorical", "bernoulli", "randint"),
    )
)
_LAST = ("jit", "pjit")


def spoken(primitive: str, params: Mapping[str, Any]) -> str:
    """``reduce_sum`` and ``jit[name=_reduce_sum]`` are ``sum``."""
    if primitive in _LAST:
        name = str(params.get("name", "jit")).strip("_")
    elif primitive.startswith("custom_") and primitive.endswith("_call"):
        name = _custom(params) or primitive
    else:
        return _BARE.get(primitive) or _NAMES.get(primitive, primitive)
    return _NAMES.get(name, name)


def _custom(params: Mapping[str, Any]) -> str:
    """The function whose derivative somebody has written."""
    functions = params.get("subfuns") or ()
    told = getattr(functions[0], "debug_info", None) if functions else None
    return str(getattr(told, "func_name", "") or "").strip("_")


def arithmetic(name: str, numbers: list[float | None]) -> tuple[str, tuple[float, ...], list[int]]:
    """As it was written: ``multiply(0.99, q)`` is ``mul`` of ``q`` with the number 0.99.

    ``numbers`` has what is known of each operand; the last result are the operands that stay.
    """
    known = [i for i, number in enumerate(numbers) if number is not None]
    kept = [i for i in range(len(numbers)) if i not in known]
    if name in _WITH_NUMBERS and len(numbers) == 2 and len(known) == 1:
        number = numbers[known[0]]
        assert number is not None
        return (_REVERSED.get(name, name) if known[0] == 0 else name), (number,), kept
    return name, (), kept


def exponent(params: Mapping[str, Any]) -> tuple[float, ...]:
    """Of ``x ** 2``, where it is no operand."""
    found: Any = params.get("y")
    return (float(found),) if type(found) in (int, float) else ()


def passes(primitive: Any, name: str) -> bool:
    """Does gradient go through this operation, whatever comes out of it?"""
    rule = private.JVPS.get(primitive)
    zero = private.ZERO_JVP is not None and getattr(rule, "func", None) is private.ZERO_JVP
    return not zero and name not in NOTHING


def axes_of(params: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The dimensions that a reduction works along, also that of a function of JAX with one in it."""
    for name in ("axes", "axis"):
        found = params.get(name)
        if type(found) is int:
            return (found,)
        if type(found) is tuple and all(type(a) is int for a in found):
            return found
    body = getattr(params.get("jaxpr"), "jaxpr", None)
    for equation in getattr(body, "eqns", ()):
        if equation.primitive.name.startswith(("reduce_", "arg", "cum")):
            return axes_of(equation.params)
        if equation.primitive.name in _LAST:
            inner = axes_of(equation.params)
            if inner is not None:
                return inner
    return None
