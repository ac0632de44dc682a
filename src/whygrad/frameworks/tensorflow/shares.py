"""How much of a network's gradient each term of a loss gives, asked of the tape before the user does.

A tape answers once unless it is persistent, so one that is recorded is made to keep what it has; to the user
it looks like any other. Nothing of the training changes by it: no random number is drawn, no weight written.
Compiled code is not measured: that would mean a second backward pass in the user's graph.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from typing import Any

import tensorflow as tf

from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.shared.shares import Shares, terms_of
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.kinds import KINDS
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.values import dense

COMPILED = "the loss is differentiated in compiled code"


def may_keep(tape: Any) -> bool:
    """Can this tape, which is about to record, be made to keep what it has, without anybody noticing?"""
    return not getattr(tape, "_persistent", True) and getattr(tape, "_tape", None) is None


def measure(
    recorder: Recorder, gradient: Callable[..., Any], tape: Any, root: Any, variables: dict[int, Any]
) -> tuple[Shares, str]:
    """The squared gradient norms of every variable under each term; or why there are none."""
    node = recorder.node(root)
    chosen, why = terms_of(node, KINDS, tainted=True) if variables else (set(), "")
    if not chosen:
        return [], why
    tensors = recorder.table.tensors(chosen)
    if len(tensors) < len(chosen):
        return [], "a term of the loss was not at hand any more"
    try:
        with _asked_again(tape):
            return _ask(gradient, tape, root, tensors, variables), ""
    except Exception:  # what is wrong with the loss, the user's own call will say
        return [], "the tape could not be asked"


def _ask(
    gradient: Callable[..., Any], tape: Any, root: Any, tensors: dict[Node, Any], variables: dict[int, Any]
) -> Shares:
    arriving = gradient(tape, root, list(tensors.values()))
    shares: Shares = []
    for (node, tensor), weight in zip(tensors.items(), arriving, strict=True):
        if weight is None:
            continue
        found = gradient(tape, tensor, list(variables.values()), output_gradients=weight)
        norms = {key: _square(g) for key, g in zip(variables, found, strict=True) if g is not None}
        shares.append((node, norms))
    return shares


@contextmanager
def _asked_again(tape: Any) -> Any:
    """The tape keeps its record, and does not record what it is asked."""
    tape._persistent = True
    recording = getattr(tape, "_recording", False)
    stop = tf.GradientTape.stop_recording
    pause = getattr(stop, "__wrapped__", stop)(tape) if recording else nullcontext()
    try:
        with pause:
            yield
    finally:
        tape._persistent = False


def _square(gradient: Any) -> float:
    values = private.contents(dense(gradient))
    return float((values.astype("float64") ** 2).sum()) if values is not None else 0.0
