"""A folder of vectors that TensorFlow.js made: online/, target/, batch.json, vectors.json."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from whygrad import strangers
from whygrad.zoo.parity.case import INFERENCE, TRAINING, AdamStep, Arrays, Batch, Case, Key, Outcome, renamed
from whygrad.zoo.tfjs import reading
from whygrad.zoo.tfjs.manifest import LARGEST_JSON, LARGEST_WEIGHTS
from whygrad.zoo.tfjs.network import Model, ModelError


def read(folder: Path) -> Case:
    """The case that a folder holds."""
    online = reading.read(folder / "online")
    target = renamed(online, reading.read(folder / "target"))
    raw, vectors = _json(folder / "batch.json"), _json(folder / "vectors.json")
    try:
        keys = {name: key for key, name in online.manifest_names.items()}
        batch = _batch(raw, vectors, online)
        reference, adam = _reference(vectors, keys)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        if isinstance(error, ModelError):
            raise
        reason = f"{type(error).__name__}: {str(error)[:100]}"
        raise ModelError(f"batch.json and vectors.json in {folder} cannot be read ({reason})") from None
    return Case(online, target, batch, reference, adam, "TensorFlow.js")


def is_vectors(path: Path) -> bool:
    """Whether this is such a folder."""
    return (path / "vectors.json").is_file() and (path / "batch.json").is_file()


def _json(path: Path) -> Any:
    try:
        return strangers.parsed(strangers.content(path, 16 * LARGEST_JSON))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {str(error)[:100]}") from None


def _batch(raw: Mapping[str, Any], vectors: Mapping[str, Any], online: Model) -> Batch:
    shape = online.network.calls[online.network.inputs[0]].shape
    mask = vectors.get("dropoutMask")
    if 4 * math.prod(side or 1 for side in shape) * len(raw["states"]) > LARGEST_WEIGHTS:
        raise ModelError(f"the batch would take more than {LARGEST_WEIGHTS >> 30} GiB of memory")
    return Batch(
        states=np.stack([_encode(state, shape) for state in raw["states"]]),
        next_states=np.stack([_encode(state, shape) for state in raw["nextStates"]]),
        actions=np.array(raw["actions"], np.int32),
        rewards=np.array(raw["rewards"], np.float32),
        dones=np.array(raw["dones"], np.float32),
        gamma=float(raw["gamma"]),
        dropout_mask=None if mask is None else _array(mask),
    )


def _encode(state: Any, shape: Any) -> np.ndarray:
    """A board as the network sees it: head 2 and body 1; fruit 1. No board: zeros."""
    board = np.zeros(shape, np.float32)
    if state is not None:
        for y, x in state["s"]:
            board[y, x, 0] = 1
        head = state["s"][0]
        board[head[0], head[1], 0] = 2
        for y, x in state["f"]:
            board[y, x, 1] = 1
    return board


def _reference(
    vectors: Mapping[str, Any], keys: Mapping[str, Key]
) -> tuple[dict[str, Outcome], tuple[AdamStep, ...]]:
    reference = {}
    if "inferenceMode" in vectors:
        mode = vectors["inferenceMode"]
        outputs = vectors.get("predict", {}).get("qOnlineInference")
        q = None if outputs is None else _array(outputs)
        reference[INFERENCE] = Outcome(float(mode["loss"]), _arrays(mode["grads"], keys), outputs=q)
    steps = vectors.get("trainingMode", {}).get("steps", [])
    if steps:
        moving = _arrays(steps[0].get("movingStatsAfterForward", {}), keys)
        reference[TRAINING] = Outcome(float(steps[0]["loss"]), _arrays(steps[0]["grads"], keys), moving)
    if not reference:
        raise ModelError("vectors.json has neither inferenceMode nor trainingMode")
    adam = [
        AdamStep(_arrays(step["grads"], keys), _arrays(step["weightsAfterAdam"], keys))
        for step in steps
        if "weightsAfterAdam" in step
    ]
    return reference, tuple(adam)


def _arrays(raw: Mapping[str, Any], keys: Mapping[str, Key]) -> Arrays:
    return {keys[name]: _array(value) for name, value in raw.items()}


def _array(raw: Mapping[str, Any]) -> np.ndarray:
    with np.errstate(over="ignore"):  # what is too large is infinite, and differs
        return np.array(raw["data"], np.float32).reshape(raw["shape"])
