"""One summary that a program asks for itself: a model, an optimizer or variables, as they are now."""

from __future__ import annotations

from types import FrameType
from typing import Any

import tensorflow as tf

from whygrad.frameworks.protocol import Subject
from whygrad.frameworks.shared.objects import class_name, is_a, items, listed, shown, shows
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.frameworks.tensorflow.addresses import name_of, tensors_of, values_of
from whygrad.frameworks.tensorflow.summaries import rate_of
from whygrad.frameworks.tensorflow.variables import handle_of


def understands(thing: Any) -> bool:
    """Is this one of TensorFlow's or Keras's?"""
    try:
        return bool(_variables(thing))
    except (TypeError, ValueError):
        return False


def subject(thing: Any, gradients: Any, frame: FrameType | None, named: bool) -> Subject:
    """Its variables; gradients are nowhere but in the caller's hands."""
    found = _variables(thing)
    given = [None] * len(found) if gradients is None else list(gradients)
    name = "" if named else _called(thing, frame)
    prefix = "" if shows(thing, "apply_gradients") or is_a(thing, list, tuple) else f"{name}."
    own = f"{shown(thing, 'name', '')}/"  # Keras begins with its own name for the model
    names = [] if named else [prefix + name_of(v).removeprefix(own).replace("/", ".") for v in found]
    return Subject(
        key=tuple(handle_of(v) for v in found),
        name=name,
        names=names,
        gradients=tensors_of(given, found),
        variables=tensors_of(values_of(found)),
        rate=rate_of(thing) if shows(thing, "apply_gradients") else float("nan"),
        unknown=gradients is None,
    )


def _variables(thing: Any) -> list[Any]:
    if is_a(thing, list, tuple):
        found = listed(thing)
    elif shows(thing, "apply_gradients"):
        found = listed(shown(thing, "_trainable_variables"))
    else:
        found = listed(shown(thing, "trainable_variables"))
    return found if all(handle_of(v) for v in found) else []


def _called(thing: Any, frame: FrameType | None) -> str:
    while frame is not None:
        for scope in (variables_of(frame), frame.f_globals):
            for name, value in items(scope):
                if value is thing and not name.startswith("_"):
                    return name
        frame = frame.f_back
    return class_name(thing)


class TensorFlowWriter:
    """Summaries into a writer of ``tf.summary`` that the program has made."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, step: int, summary: bytes) -> None:
        """A Summary message, as it is."""
        with self._writer.as_default():
            tf.summary.experimental.write_raw_pb(summary, step=step)
