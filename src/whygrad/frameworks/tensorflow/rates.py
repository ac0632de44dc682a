"""What an optimizer of Keras says of itself: its learning rate, what it clips, the steps it has taken."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import tensorflow as tf

from whygrad.frameworks.shared.objects import plain_number, shown
from whygrad.frameworks.shared.records import OptimizerRecord
from whygrad.frameworks.tensorflow.variables import handle_of

_CLIPS = {"clipnorm": "norm", "clipvalue": "value", "global_clipnorm": "global norm"}


def first_seen(record: OptimizerRecord, optimizer: Any) -> None:
    """Where it counts its steps; what it has counted so far is not ours. A local of the script dies early."""
    record.iterations = shown(optimizer, "iterations")
    record.before = int(_number(record.iterations) or 0)


def taken(record: OptimizerRecord) -> int:
    """The steps that it has counted itself since it was first seen."""
    return int(_number(record.iterations) or 0) - record.before


def learning_rate(optimizer: Any) -> float | None:
    """The learning rate if it is a plain number; a schedule is none."""
    names = ("_learning_rate", "learning_rate", "_lr")
    rate = next((found for name in names if (found := shown(optimizer, name)) is not None), None)
    number = plain_number(rate)
    return number if number is not None else _number(rate)


def clip_limits(optimizer: Any) -> dict[str, float]:
    """``Adam(clipnorm=1.0)``: what is limited, and to what."""
    limits = {kind: plain_number(shown(optimizer, name)) for name, kind in _CLIPS.items()}
    return {kind: limit for kind, limit in limits.items() if limit is not None}


def _number(variable: Any) -> float | None:
    """The value of a scalar variable of Keras or TensorFlow."""
    if not handle_of(variable):
        return None
    value = shown(variable, "value")
    with tf.init_scope(), suppress(TypeError, ValueError, tf.errors.OpError):  # not initialised yet
        return float(value() if callable(value) else variable if value is None else value)
    return None
