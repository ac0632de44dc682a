"""How an update is computed: the right way, and the ways in which people get it wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from whygrad.zoo.parity.case import Arrays
from whygrad.zoo.tfjs.network import Call, Layer, Model, Network


@dataclass(frozen=True)
class Setup:
    """Each field is right as it stands; a mistake changes one of them."""

    epsilon: float | None = None  # of batch normalisation; None: as the model says
    momentum: float | None = None
    unbiased: bool = False  # the moving variance
    channels_first_flatten: bool = False
    swapped_kernels: bool = False  # height and width
    swapped_channels: bool = False  # of the input
    norm_first: bool = False  # batch normalisation before the activation
    activation: str | None = None  # in place of relu
    moving_norm: bool = False  # the online network normalises with moving statistics while training
    training_target: str = ""  # norm, all
    dropout: str = "scaled"  # none, unscaled
    masked: bool = True  # 1 - done
    gamma: float | None = None
    loss: str = "square"  # huber, absolute
    reduction: str = "mean"  # sum, half, actions
    double: bool = False
    bootstrap: str = "target"  # online, leak (differentiated through)
    best: str = "max"  # mean


def network_of(model: Model, setup: Setup) -> Model:
    """The model with the mistakes that are in the network or in how its weights were loaded."""
    network = model.network
    layers = {name: _layer(layer, setup) for name, layer in network.layers.items()}
    network = replace(network, layers=layers)
    if setup.channels_first_flatten:
        network = _flatten_channels_first(network)
    if setup.norm_first:
        network = _norm_first(network)
    weights = dict(model.weights)
    if setup.swapped_kernels:
        for key, array in weights.items():
            if key[1].endswith("kernel") and array.ndim == 4 and array.shape[0] == array.shape[1]:
                weights[key] = array.transpose(1, 0, 2, 3)
    return Model(network, weights, model.manifest_names)


def _layer(layer: Layer, setup: Setup) -> Layer:
    options: dict[str, Any] = dict(layer.options)
    if layer.kind == "BatchNormalization":
        options["epsilon"] = options["epsilon"] if setup.epsilon is None else setup.epsilon
        options["momentum"] = options["momentum"] if setup.momentum is None else setup.momentum
    if setup.activation and options.get("activation") == "relu":
        options["activation"] = setup.activation
    return replace(layer, options=options)


def _flatten_channels_first(network: Network) -> Network:
    for i, call in reversed(list(enumerate(network.calls))):
        if network.layers[call.layer].kind == "Flatten":
            read = call.inputs[0]
            shape = network.calls[read].shape
            if len(shape) == 3:
                turned = Layer(f"{call.layer}_turned", "Permute", {"dims": (3, 1, 2)})
                network = _insert(network, read, i, turned, (shape[2], shape[0], shape[1]))
    return network


def _norm_first(network: Network) -> Network:
    """relu(conv) then norm becomes norm(conv) then relu."""
    for i, call in reversed(list(enumerate(network.calls))):
        layer = network.layers[call.layer]
        if layer.kind != "BatchNormalization":
            continue
        before = network.layers[network.calls[call.inputs[0]].layer]
        active = before.options.get("activation", "linear")
        if active != "linear":
            plain = replace(before, options={**before.options, "activation": "linear"})
            network = replace(network, layers={**network.layers, before.name: plain})
            late = Layer(f"{call.layer}_late", "Activation", {"activation": active})
            network = _insert(network, i, None, late, call.shape)
    return network


def _insert(network: Network, after: int, reader: int | None, layer: Layer, shape: Any) -> Network:
    """A layer between a call and one of its readers, or all of them."""
    at = after + 1

    def moved(i: int) -> int:
        return i + 1 if i >= at else i

    calls = []
    for i, call in enumerate(network.calls):
        read = [at if j == after and reader in (None, i) else moved(j) for j in call.inputs]
        calls.append(replace(call, inputs=tuple(read)))
    calls.insert(at, Call(layer.name, (after,), shape))
    outputs = tuple(at if i == after and reader is None else moved(i) for i in network.outputs)
    inputs = tuple(moved(i) for i in network.inputs)
    return replace(
        network,
        layers={**network.layers, layer.name: layer},
        calls=tuple(calls),
        inputs=inputs,
        outputs=outputs,
    )


def norm_counts(network: Network, batch: int) -> dict[str, int]:
    """How many numbers each batch normalisation averages over."""
    counts = {}
    for call in network.calls:
        if network.layers[call.layer].kind == "BatchNormalization":
            n = batch
            for side in call.shape[:-1]:
                n *= side or 1
            counts[call.layer] = n
    return counts


def unbiased(moving: Arrays, before: Arrays, model: Model, batch: int) -> Arrays:
    """The moving statistics as they would be with an unbiased variance."""
    counts, changed = norm_counts(model.network, batch), dict(moving)
    for key, array in moving.items():
        if key[1] == "moving_variance":
            kept = model.network.layers[key[0]].options["momentum"]
            n = counts[key[0]]
            changed[key] = before[key] * kept + (array - before[key] * kept) * (n / max(n - 1, 1))
    return changed
