"""Which of their layers is which of ours: in the order in which they are made, by kind and shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whygrad.zoo.tfjs.network import Layer, ModelError, Network


@dataclass(frozen=True)
class Found:
    """A layer of somebody's network: our names for its weights, and the weights."""

    label: str
    weights: Mapping[str, Any]


def pair(network: Network, found: Sequence[Found], shape_of: Any) -> dict[tuple[str, str], Any]:
    """Our keys for their variables. ``shape_of(layer, weight, theirs)`` is the shape as TensorFlow has it."""
    wanted = _in_order(network)
    if len(found) != len(wanted):
        raise ModelError(
            f"your network has {len(found)} layers with weights ({_list(f.label for f in found)}), "
            f"the reference has {len(wanted)} ({_list(layer.kind for layer in wanted)})"
        )
    pairs = {}
    for layer, theirs in zip(wanted, found, strict=True):
        for weight, shape in layer.weights.items():
            if weight not in theirs.weights:
                raise ModelError(f"your {theirs.label} stands where {layer.name} is and has no {weight}")
            other = tuple(shape_of(layer, weight, theirs.weights[weight]))
            if other != shape:
                raise ModelError(
                    f"your {theirs.label} has a {weight} of shape {other} where {layer.name} has {shape}"
                )
            pairs[layer.name, weight] = theirs.weights[weight]
    return pairs


def _in_order(network: Network) -> list[Layer]:
    names = dict.fromkeys(call.layer for call in network.calls)
    return [network.layers[name] for name in names if network.layers[name].weights]


def _list(labels: Any) -> str:
    return ", ".join(list(labels)[:12])
