"""What is replaced only while eager code is recorded: calls of compiled functions, values that leave."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Protocol

from whygrad.doors import door
from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.calls import Calls
from whygrad.frameworks.jax.ports import Listener
from whygrad.frameworks.jax.recorder import Recorder
from whygrad.frameworks.shared.patches import Patches

_EXITS = ("__float__", "__int__", "__index__", "__bool__", "item", "tolist", "__array__")


class _Observer(Listener, Protocol):
    def function_called(
        self, jaxpr: Any, args: Any, results: Any, name: str, params: Any, frame: FrameType
    ) -> None: ...


class Window:
    """While it is open, C++ knows no shortcut past Python; nothing is traced or compiled again for that."""

    def __init__(self, observer: _Observer, recorder: Recorder, calls: Calls) -> None:
        self._observer, self._recorder, self._calls = observer, recorder, calls
        self._patches = Patches()
        self.is_open = False

    def open(self) -> None:
        """Begin to see them."""
        if self.is_open:
            return
        self.is_open = True
        self._patches.wrap(private.PJIT, private.FAST_PATH, self._no_shortcut)
        self._patches.wrap(private.PJIT, private.PYTHON_CALL, self._call)
        for name in _EXITS:
            if name in vars(private.ARRAY):
                self._patches.wrap(private.ARRAY, name, self._leaving)
        private.clear_fast_paths()

    def close(self) -> None:
        """No longer."""
        if not self.is_open:
            return
        self.is_open = False
        self._patches.restore()
        private.clear_fast_paths()

    def _no_shortcut(self, original: Any) -> Any:
        @door
        def _get_fastpath_data(*args: Any, **kwargs: Any) -> Any:
            original(*args, **kwargs)
            return None

        return _get_fastpath_data

    def _call(self, original: Any) -> Any:
        observer = self._observer

        @door
        def _run_python_pjit(p: Any, args_flat: Any, *args: Any, **kwargs: Any) -> Any:
            here, eager = observer.thread, False
            given = ()
            try:
                eager = not here.resting and not private.tracing()
                given = tuple(args_flat) if eager else ()
            except Exception as error:
                observer.stepped_aside(error)
            here.resting += eager
            try:
                result = original(p, args_flat, *args, **kwargs)
            finally:
                here.resting -= eager
            try:
                if eager:
                    params, frame = p.params, sys._getframe(1)
                    name = str(params.get("name", ""))
                    observer.safely(
                        observer.function_called, params["jaxpr"].jaxpr, given, result[1], name, params, frame
                    )
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return _run_python_pjit

    def _leaving(self, original: Any) -> Any:
        name = original.__name__

        @door
        def leave(array: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(array, *args, **kwargs)
            try:
                if self._observer.recording() and not self._observer.thread.resting:
                    self._observer.safely(self._recorder.left, name, array, result, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        return leave
