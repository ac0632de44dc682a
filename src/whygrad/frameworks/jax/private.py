"""Everything of JAX that has no public name, in one place, and what is not seen where a name is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
from jax._src import ad_util, api, array, core, pjit, source_info_util, traceback_util
from jax._src.interpreters import ad, batching
from jax._src.interpreters import partial_eval as pe


def _named(owner: Any, name: str) -> Any:
    return getattr(owner, name, None)


_ASKED = {
    "TracerArrayConversionError": "numpy",
    "TracerBoolConversionError": "bool()",
    "TracerIntegerConversionError": "int()",
}
PRIMITIVE = core.Primitive
TRACER = core.Tracer
VAR = core.Var
LITERAL = core.Literal
ZERO = ad_util.Zero
LINEARIZE_TRACER = _named(ad, "LinearizeTracer")
JVP_TRACER = _named(ad, "JVPTracer")
BATCH_TRACER = _named(batching, "BatchTracer")
STAGED_TRACER = _named(pe, "DynamicJaxprTracer")
STAGING = _named(pe, "DynamicJaxprTrace")
ARRAY: Any = array.ArrayImpl  # to make one would start its threads, and a fork would hang
ZERO_JVP = _named(ad, "zero_jvp")
JVPS: dict[Any, Any] = _named(ad, "primitive_jvps") or {}
JIT: Any = _named(pjit, "jit_p") or _named(pjit, "pjit_p")
VJP = _named(api, "VJP")
AD, API, PJIT = ad, api, pjit
TRACED_CALL = "_trace_for_jit"
PYTHON_CALL = "_run_python_pjit"
FAST_PATH = "_get_fastpath_data"
_CACHES = ("_cpp_pjit_cache_fun_only", "_cpp_pjit_cache_explicit_attributes")


def unseen() -> list[str]:
    """What this version keeps to itself."""
    missing = {
        "which values a gradient was asked for": _named(ad, "linearize") and LINEARIZE_TRACER,
        "gradients that are made by hand from vjp": VJP,
        "calls of compiled functions": _named(pjit, PYTHON_CALL) and _named(pjit, FAST_PATH),
        "which functions are JAX's own": _named(pjit, TRACED_CALL),
    }
    return [what for what, there in missing.items() if there is None]


def clear_fast_paths() -> None:
    """C++ forgets what it knows of calls: nothing is traced or compiled again."""
    for name in _CACHES:
        cache = _named(pjit, name)
        if cache is not None:
            cache.clear()


def tracing() -> bool:
    """Is something being traced, or differentiated, in this thread?"""
    return not core.trace_state_clean()


def staging() -> bool:
    """Is a program being traced here? What is only differentiated runs as it is written, each time."""
    trace = core.trace_ctx.trace
    while trace is not None:
        if STAGING is not None and isinstance(trace, STAGING):
            return not hasattr(trace, "tag")  # that has one writes down the derivative
        trace = getattr(trace, "parent_trace", None)
    return STAGING is None and tracing()


def asked_for(error: BaseException) -> str:
    """Of the exceptions that JAX raises where a value has no number yet: what was asked of it."""
    kind = type(error).__name__
    if not type(error).__module__.startswith("jax"):
        return ""
    if kind == "ConcretizationTypeError":
        found = re.search(r"the `?(float|int|complex|bool)`? function", str(error))
        return f"{found[1]}()" if found else "its value"
    return _ASKED.get(kind, "")


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape that the user sees; nothing for what is no value of JAX."""
    try:
        return tuple(n if type(n) is int else -1 for n in core.typeof(value).shape)
    except Exception:
        return None


def floating(value: Any) -> bool:
    """Can a gradient flow through it?"""
    try:
        kind = core.typeof(value).dtype
    except Exception:
        return False
    return bool(jax.dtypes.issubdtype(kind, jax.numpy.inexact))


def exclude(path: str) -> None:
    """Lines of this folder are nobody's: JAX leaves them out of what it tells of places and errors."""
    traceback_util.register_exclusion(path)
    source_info_util.register_exclusion(path)


def include(path: str) -> None:
    """Forget that again."""
    for module in (traceback_util, source_info_util):
        paths = _named(module, "_exclude_paths")
        if paths is not None and path in paths:
            paths.remove(path)
    for name in ("_exclude_path_regex", "is_user_filename"):
        forget = _named(_named(source_info_util, name), "cache_clear")
        if forget is not None:
            forget()


@contextmanager
def eagerly() -> Iterator[None]:
    """Outside of everything that is being traced."""
    with core.eval_context():
        yield


def floating_type(aval: Any) -> bool:
    """The same of what JAX knows of a value that is not there."""
    kind = getattr(aval, "dtype", None)
    return kind is not None and bool(jax.dtypes.issubdtype(kind, jax.numpy.inexact))
