"""Where a program's operations are turned into a graph or transformed: nobody else's may be among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from whygrad.frameworks.torch import private

_trace, _transform, _modes = private.tracing_state, private.transform, private.dispatch_depth
_unheard = private.unheard


def traced() -> bool:
    """Is torch tracing (``jit.trace``, ``export``, ``make_fx``) or transforming (``vmap``, ``func.grad``)?"""
    return _trace() is not None or _transform() is not None or (_modes() > 0 and _by_a_mode())


def _by_a_mode() -> bool:
    """Is one of the dispatch modes torch's own, by which it traces?"""
    return any(vars(mode).get("_mode_key") is not None for mode in private.dispatch_modes())


@contextmanager
def _nobody_looks() -> Iterator[None]:
    with _unheard(), private.undispatched():
        yield


def alone() -> Any:
    """Around what we ask of tensors: no mode and no tensor class of the program is told of it."""
    return _nobody_looks() if _modes() else _unheard()
