"""Where whygrad stands in JAX and Optax: what stays for the whole run, and whom it tells."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from inspect import unwrap as unwrapped
from typing import Any, Protocol

from whygrad.doors import door
from whygrad.frameworks.imports import Waiting, half_imported
from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.bodies import Bodies
from whygrad.frameworks.jax.calls import Calls
from whygrad.frameworks.jax.differentiating import Differentiating
from whygrad.frameworks.jax.ports import Listener
from whygrad.frameworks.jax.recorder import Recorder
from whygrad.frameworks.jax.stepping import Stepping
from whygrad.frameworks.shared.patches import Patches

_HOME = os.path.dirname(os.path.dirname(private.API.__file__ or "")) + os.sep
_TRANSPARENT = frozenset(("shard_map", "xla_pmap"))


class _Observer(Listener, Protocol): ...


class Hooks:
    """All patches of JAX that stay for the whole run."""

    def __init__(
        self,
        observer: _Observer,
        recorder: Recorder,
        differentiating: Differentiating,
        stepping: Stepping,
        calls: Calls,
        bodies: Bodies,
    ) -> None:
        self._observer, self._recorder = observer, recorder
        self._differentiating, self._stepping = differentiating, stepping
        self._calls, self._bodies = calls, bodies
        self._patches = Patches()
        self._waiting: Waiting | None = None

    def install(self) -> None:
        """Put them in; those of Optax when it is imported."""
        self._patches.wrap(private.PRIMITIVE, "bind", self._bind)
        self._patches.wrap(private.PJIT, private.TRACED_CALL, self._trace)
        self._patches.wrap(private.AD, "linearize", self._linearize)
        import jax

        for owner in (private.API, jax):
            self._patches.wrap(owner, "vjp", self._vjp)
        if private.VJP is not None:
            self._patches.wrap(private.VJP, "__call__", self._pull)
        self._wait_for_optax()

    def remove(self) -> None:
        """Take them out."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._patches.restore()

    def _wait_for_optax(self) -> None:
        def imported(name: str) -> None:
            module = sys.modules[name]
            if name == "optax._src.base":
                self._patches.wrap(module.GradientTransformation, "__new__", self._transformation)
            else:
                self._patches.wrap(module, "apply_updates", self._apply)

        names = {"optax._src.base", "optax._src.update", "optax"}
        there = {name for name in names if name in sys.modules and not half_imported(sys.modules[name])}
        for name in sorted(there):
            imported(name)
        self._waiting = Waiting(names - there, imported, self._lost)
        self._waiting.start()

    def _lost(self, name: str, error: Exception) -> None:
        self._observer.stepped_aside(error)

    # -- operations and functions ------------------------------------------------------------------

    def _bind(self, original: Any) -> Any:
        observer, operation = self._observer, self._recorder.operation

        @door
        def bind(primitive: Any, *args: Any, **params: Any) -> Any:
            here, deeper = None, 0
            try:
                if not observer.thread.resting and observer.recording():
                    here = observer.thread
                    deeper = 0 if primitive.name in _TRANSPARENT else 1
                    here.resting = deeper
            except Exception as error:
                observer.stepped_aside(error)
            try:
                result = original(primitive, *args, **params)
            finally:
                if here is not None:
                    here.resting = 0
            try:
                if deeper:
                    observer.safely(operation, primitive, args, params, result, sys._getframe(1))
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return bind

    def _trace(self, original: Any) -> Any:
        """A function is traced: one of JAX's own says by its name what it does."""
        observer = self._observer

        @door
        def _trace_for_jit(fun: Any, *args: Any, **kwargs: Any) -> Any:
            here, theirs, result = observer.thread, False, None
            try:
                theirs = here.resting > 0 or _is_jax(fun)
                if not theirs:
                    self._calls.begin()
            except Exception as error:
                observer.stepped_aside(error)
            here.resting += theirs
            try:
                result = original(fun, *args, **kwargs)
            finally:
                here.resting -= theirs
                try:
                    jaxpr = _jaxpr(result)
                    if theirs:
                        self._bodies.library.add(jaxpr)
                    else:
                        self._calls.end(jaxpr)
                except Exception as error:
                    observer.stepped_aside(error)
            return result

        return _trace_for_jit

    # -- differentiation ---------------------------------------------------------------------------

    def _linearize(self, original: Any) -> Any:
        observer, differentiating = self._observer, self._differentiating

        @door
        def linearize(
            traceable: Any, primals_ft: Any, has_aux: bool = False, is_vjp: bool = False, **more: Any
        ) -> Any:
            record = None
            called = traceable
            if not observer.thread.resting:
                try:
                    record = observer.safely(differentiating.begins, list(primals_ft), sys._getframe(1))
                    if record is not None:
                        called = self._told(traceable, record, list(primals_ft), has_aux)
                except Exception as error:
                    observer.stepped_aside(error)
            try:
                result = original(called, primals_ft, has_aux=has_aux, is_vjp=is_vjp, **more)
            except BaseException as error:
                try:
                    if record is not None:
                        observer.safely(differentiating.failed, record, error)
                except Exception as ours:
                    observer.stepped_aside(ours)
                raise
            try:
                if record is not None:
                    observer.safely(differentiating.ended, record, _used(result))
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return linearize

    def _told(self, original: Any, record: Any, primals: list[Any], has_aux: bool) -> Any:
        """The function that is differentiated, and we hear what it gets and gives."""
        import jax

        observer, differentiating = self._observer, self._differentiating

        @door
        def told(*args: Any, **kwargs: Any) -> Any:
            try:
                tracers = jax.tree_util.tree_leaves((args, kwargs))
                observer.safely(differentiating.entered, record, primals, tracers)
            except Exception as error:
                observer.stepped_aside(error)
            answer = original(*args, **kwargs)
            try:
                observer.safely(differentiating.left, record, answer, has_aux)
            except Exception as error:
                observer.stepped_aside(error)
            return answer

        told.__wrapped__ = original  # type: ignore[attr-defined]
        told.__name__ = getattr(original, "__name__", "told")
        return told

    def _vjp(self, original: Any) -> Any:
        observer, differentiating = self._observer, self._differentiating

        @door
        def vjp(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            try:
                if type(result) is tuple and len(result) > 1 and not observer.thread.resting:
                    observer.safely(differentiating.handed_out, result[1])
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return vjp

    def _pull(self, original: Any) -> Any:
        observer, differentiating = self._observer, self._differentiating

        @door
        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:
            here = observer.thread
            here.resting += 1
            try:
                result = original(function, *args, **kwargs)
            finally:
                here.resting -= 1
            try:
                if not here.resting:
                    observer.safely(differentiating.gradients, function, result, sys._getframe(1))
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return __call__

    # -- Optax -------------------------------------------------------------------------------------

    def _transformation(self, original: Any) -> Any:
        make = original.__func__ if isinstance(original, staticmethod) else original

        @door
        def __new__(cls: Any, init: Any, update: Any) -> Any:
            box: list[Any] = []
            first, second = init, update
            try:
                first, second = self._init(init, box), self._update(update, box)
            except Exception as error:
                self._observer.stepped_aside(error)
            made = make(cls, first, second)
            try:
                box.append(made)
                if not self._observer.thread.updating:
                    self._observer.safely(self._stepping.made, made, sys._getframe(1))
            except Exception as error:
                self._observer.stepped_aside(error)
            return made

        return staticmethod(__new__)

    def _init(self, original: Any, box: list[Any]) -> Any:
        observer, stepping = self._observer, self._stepping

        @door
        def init(params: Any) -> Any:
            here = observer.thread
            here.updating += 1
            try:
                result = original(params)
            finally:
                here.updating -= 1
            try:
                if not here.updating and box:
                    observer.safely(stepping.begun, box[0], params, sys._getframe(1))
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return _dressed(init, original)

    def _update(self, original: Any, box: list[Any]) -> Any:
        observer, stepping = self._observer, self._stepping

        @door
        def update(updates: Any, *args: Any, **kwargs: Any) -> Any:
            here = observer.thread
            here.updating += 1
            try:
                result = original(updates, *args, **kwargs)
            finally:
                here.updating -= 1
            try:
                if not here.updating and box:
                    state = args[0] if args else kwargs.get("state")
                    observer.safely(stepping.updated, box[0], state, result, sys._getframe(1))
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return _dressed(update, original)

    def _apply(self, original: Any) -> Any:
        observer, stepping = self._observer, self._stepping

        @door
        def apply_updates(params: Any, updates: Any) -> Any:
            here = observer.thread
            here.updating += 1
            try:
                result = original(params, updates)
            finally:
                here.updating -= 1
            if not here.updating:
                try:
                    observer.safely(stepping.applied, params, updates, result, sys._getframe(1))
                except Exception as error:
                    observer.stepped_aside(error)
            return result

        return apply_updates


def _dressed(ours: Callable[..., Any], original: Any) -> Callable[..., Any]:
    ours.__wrapped__ = original  # type: ignore[attr-defined]
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        found = getattr(original, name, None)
        if found is not None or name == "__doc__":
            setattr(ours, name, found)
    return ours


def _is_jax(function: Any) -> bool:
    """Is this one of JAX's own functions, all the way down?"""
    for _ in range(8):
        inner = getattr(function, "func", None)  # functools.partial
        if inner is None:
            break
        function = inner
    code = getattr(unwrapped(function) if callable(function) else function, "__code__", None)
    return code is not None and code.co_filename.startswith(_HOME)


def _jaxpr(traced: Any) -> Any:
    found = getattr(traced, "params", {}).get("jaxpr") if traced is not None else None
    return getattr(found, "jaxpr", found)


def _used(result: Any) -> list[bool] | None:
    """Of each value that was asked for: does gradient arrive there? As the tangent program says."""
    jaxpr = next((part for part in result[1:] if hasattr(part, "invars")), None)
    if jaxpr is None:
        return None
    needed = {id(v) for v in jaxpr.outvars} | {id(v) for e in jaxpr.eqns for v in e.invars}
    return [id(v) in needed for v in jaxpr.invars]
