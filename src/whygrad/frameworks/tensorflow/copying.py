"""Weights that are written into other weights: ``assign``, ``set_weights``, polyak arithmetic.

What was computed in TensorFlow is followed; numpy arithmetic is not, so there the result is compared with the
weights that it may be made of: new = own * old + factor * source, to the last few bits.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from whygrad.doors import door
from whygrad.frameworks.shared.copies import Copies
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.mixtures import Mixture, added, mixture, scaled
from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.frameworks.shared.objects import listed, shown
from whygrad.frameworks.tensorflow.kinds import KINDS
from whygrad.frameworks.tensorflow.ports import Listener
from whygrad.frameworks.tensorflow.values import Value, here
from whygrad.frameworks.tensorflow.variables import Variables
from whygrad.frameworks.tensorflow.weights import is_flat, values_of

_LOOKS = 2  # at one line while nothing is recorded
_CLOSE = 1e-5
_ARITHMETIC = frozenset(
    (
        *("add", "sub", "rsub", "mul", "div", "neg", "cast", "clone", "read", "variable", "stop_gradient"),
        *("constant", "numpy", "__array__", "get_weights", "reshape", "assign"),
    )
)
_FAR = 40


class _Observer(Listener, Protocol):
    def open_window(self) -> None: ...


class Copying:
    """The copies of late, one per pair of weights and line."""

    def __init__(self, observer: _Observer, variables: Variables) -> None:
        self._observer, self._variables = observer, variables
        self.copies = Copies()
        self._seen: set[int] = set()  # variables that were written
        self._looks: dict[tuple[Any, int], int] = {}

    # -- arithmetic of TensorFlow ------------------------------------------------------------------

    def written(self, op_type: str, handle: int, value: Value) -> None:
        """``target.assign(...)``, ``target.assign_sub(...)``, eager or in a function that was called."""
        target = self._variables.params.get(handle)
        source = value.inputs[0] if value.inputs else None
        if target is None or source is None or not _is_arithmetic(source):
            return
        mixed: Mixture = mixture(source, KINDS)
        if op_type != "AssignVariableOp":
            sign = -1.0 if "Sub" in op_type else 1.0
            mixed = added({target: 1.0}, scaled(mixed, sign))
        for param, factor in mixed.items():
            if param is not target and param.shape == target.shape:
                self.copies.add(param, target, value.where, "assign", factor, mixed.get(target, 0.0))

    def assign(self, original: Any) -> Any:
        """The hook around ``Variable.assign``: a sync that comes late is worth a look of its own."""

        @door
        def assign(variable: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                if id(variable) not in self._seen and not self._observer.is_resting():
                    self._seen.add(id(variable))
                    if shown(variable, "trainable"):
                        self._observer.safely(self._observer.open_window)
            except Exception as error:
                self._observer.stepped_aside(error)
            return original(variable, *args, **kwargs)

        return assign

    # -- set_weights -------------------------------------------------------------------------------

    def set_weights(self, original: Any) -> Any:
        """The hook around ``Layer.set_weights``."""

        @door
        def set_weights(layer: Any, *args: Any, **kwargs: Any) -> Any:
            frame, before = sys._getframe(1), None
            try:
                before = self._observer.safely(self._before, layer, frame)
            except Exception as error:
                self._observer.stepped_aside(error)
            result = original(layer, *args, **kwargs)
            try:
                if before:
                    self._observer.safely(self._after, before, frame)
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        return set_weights

    def _before(self, layer: Any, frame: FrameType) -> list[tuple[Param, Any]]:
        """The weights as they were; nothing while resting, or where this line has been looked at."""
        if self._observer.is_resting() or not tf.executing_eagerly():
            return []
        if not self._observer.recording():
            seen = self._looks.get((frame.f_code, frame.f_lineno), 0)
            self._looks[frame.f_code, frame.f_lineno] = seen + 1
            if seen >= _LOOKS:
                return []
        with self._observer.resting():
            params = [(self._variables.param(v), v) for v in listed(shown(layer, "weights"))]
            return [(p, values_of(v)) for p, v in params if p is not None]

    def _after(self, before: list[tuple[Param, Any]], frame: FrameType) -> None:
        where = here(frame)
        with self._observer.resting():
            values = {p: values_of(p.ref()) for p in self._variables.params.values()}
            for target, old in before:
                new = values.get(target)
                if old is not None and new is not None and not np.array_equal(old, new):
                    self._recognise(target, old, new, values, where)

    def _recognise(
        self, target: Param, old: Any, new: Any, values: dict[Param, Any], where: Where | None
    ) -> None:
        for source, held in values.items():
            if source is target or held is None or held.shape != new.shape or is_flat(held):
                continue
            found = parts_of(new, old, held)
            if found is not None:
                own, factor = found
                self._variables.copied(source, target)
                self.copies.add(source, target, where, "set_weights", factor, own)


def parts_of(new: Any, old: Any, source: Any) -> tuple[float, float] | None:
    """``(own, factor)`` in ``new = own * old + factor * source``; nothing if it is something else."""
    if np.array_equal(new, source):
        return 0.0, 1.0
    columns = np.stack([old.ravel(), source.ravel()], axis=1).astype(np.float64)
    wanted = new.ravel().astype(np.float64)
    if not (np.isfinite(columns).all() and np.isfinite(wanted).all()):  # LAPACK would print what it thinks
        return None
    found, _, rank, _ = np.linalg.lstsq(columns, wanted, rcond=None)
    if rank < 2 or np.abs(columns @ found - wanted).max() > _CLOSE * max(np.abs(wanted).max(), 1e-12):
        return None
    own, factor = (round(float(number), 5) for number in found)
    return (own, factor) if factor and len(wanted) > 2 else None


def _is_arithmetic(start: Node) -> bool:
    """Nothing but sums and products of weights and numbers."""
    todo, seen = [start], {start}
    while todo:
        node = todo.pop()
        recognised = node.via in ("", "memory")
        if node.name not in _ARITHMETIC or not recognised or len(seen) > _FAR:
            return False
        for source in node.inputs if node.name != "read" else node.inputs[:1]:
            if source not in seen:
                seen.add(source)
                todo.append(source)
    return True
