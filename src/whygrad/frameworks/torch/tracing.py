"""Where a program's operations are turned into a graph or transformed: nobody else's may be among them."""

from __future__ import annotations

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


class _NobodyLooks:
    """No mode, and no compiler: it would read the functions of Python and torch that we call."""

    def __enter__(self) -> None:
        self._compiler = private.set_compiler(None)
        self._blocks = (_unheard(), private.undispatched())
        for block in self._blocks:
            block.__enter__()

    def __exit__(self, *error: Any) -> None:
        for block in reversed(self._blocks):
            block.__exit__(*error)
        private.set_compiler(self._compiler)


def alone() -> Any:
    """Around what we ask of tensors: no mode, no tensor class and no compiler is told of it."""
    return _NobodyLooks() if _modes() or private.compiler() is not None else _unheard()
