"""The nouns: a case is weights and a batch; an outcome is what an implementation makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from whygrad.zoo.tfjs.network import Model, ModelError

if TYPE_CHECKING:
    import numpy as np

Key = tuple[str, str]  # a layer, and the layer's own name for one of its weights
Arrays = Mapping[Key, "np.ndarray"]

INFERENCE, TRAINING = "inference", "training"
MOVING = ("moving_mean", "moving_variance")


@dataclass(frozen=True)
class Batch:
    """Transitions, channels last; or, without actions, inputs and the outputs that they should have."""

    states: np.ndarray
    next_states: np.ndarray | None = None
    actions: np.ndarray | None = None
    rewards: np.ndarray | None = None
    dones: np.ndarray | None = None
    gamma: float = 0.99
    goals: np.ndarray | None = None
    dropout_mask: np.ndarray | None = None  # scaled: 0 or 1 / (1 - rate)


@dataclass(frozen=True)
class Outcome:
    """Loss, gradients by variable, and the moving statistics after the forward pass."""

    loss: float
    gradients: Arrays
    moving: Arrays = field(default_factory=dict)
    outputs: np.ndarray | None = None


@dataclass(frozen=True)
class AdamStep:
    """One step of the reference: gradients in, weights after."""

    gradients: Arrays
    weights: Arrays


@dataclass(frozen=True)
class Case:
    """One network with weights and a batch, and what the reference makes of it, mode by mode."""

    online: Model
    target: Model | None
    batch: Batch
    reference: Mapping[str, Outcome] = field(default_factory=dict)
    adam: tuple[AdamStep, ...] = ()
    name: str = "the reference"


def renamed(model: Model, other: Model) -> Model:
    """The weights of ``other`` under the names of ``model``: names are numbered anew for each network."""
    mine, theirs = model.network.weight_shapes(), other.network.weight_shapes()
    if list(mine.values()) != list(theirs.values()):
        raise ModelError("the two models have weights of different shapes")
    twins = zip(mine, theirs, strict=True)
    return replace(model, weights={key: other.weights[twin] for key, twin in twins})
