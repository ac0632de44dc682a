"""The nouns: a network is layers and the calls that join them; a model is a network with its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Shape = tuple[int | None, ...]  # without the batch


class ModelError(ValueError):
    """A model that cannot be used, and why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: options that are known to make sense, and the shapes of its weights."""

    name: str
    kind: str
    options: Mapping[str, Any]
    weights: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A layer at work: which earlier calls it reads, and what comes out. Inputs read nothing."""

    layer: str
    inputs: tuple[int, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Network:
    """A directed graph of calls, in an order in which they can be made."""

    name: str
    layers: Mapping[str, Layer]
    calls: tuple[Call, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def chain(self) -> bool:
        """Whether each call reads the one before, as in a Sequential model."""
        straight = all(call.inputs == ((i - 1,) if i else ()) for i, call in enumerate(self.calls))
        return straight and len(self.layers) == len(self.calls) and self.outputs == (len(self.calls) - 1,)

    def weight_shapes(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """Every weight that there must be: by layer and by the layer's own name for it."""
        return {(la.name, w): shape for la in self.layers.values() for w, shape in la.weights.items()}


@dataclass(frozen=True, slots=True)
class Model:
    """A network and its weights, laid out as in TensorFlow (kernels are height, width, in, out)."""

    network: Network
    weights: Mapping[tuple[str, str], np.ndarray]
    manifest_names: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def named_weights(self) -> dict[str, np.ndarray]:
        """The weights by their names in the manifest; a weight that has none goes by layer and name."""
        return {self.manifest_names.get(key, "/".join(key)): array for key, array in self.weights.items()}
