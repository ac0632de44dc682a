"""A model as a TensorFlow.js layers-model: model.json and the files of its weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from whygrad import __version__, strangers
from whygrad.zoo.tfjs.network import Layer, Model, ModelError

SHARD_BYTES = 4 * 2**20  # what browsers cache well
QUANTIZATIONS = ("uint8", "uint16", "float16")


def write(
    model: Model, folder: Path, quantize: str | None = None, shard_bytes: int = SHARD_BYTES
) -> list[Path]:
    """Write it into this folder; model.json comes last, so that it never names files that are not there."""
    kind, config = ("Sequential", _chain(model)) if model.network.chain else ("Model", _graph(model))
    topology = {"class_name": kind, "config": config, "keras_version": "2.15.0", "backend": "tensorflow"}
    entries, data = [], []
    for (layer, weight), array in model.weights.items():
        entry, stored = _entry(f"{layer}/{weight}", array, quantize)
        entries.append(entry)
        data.append(stored)
    joined = b"".join(data)
    shards = [joined[i : i + shard_bytes] for i in range(0, len(joined), shard_bytes)]
    names = [f"group1-shard{i + 1}of{len(shards)}.bin" for i in range(len(shards))]
    folder.mkdir(parents=True, exist_ok=True)
    for name, shard in zip(names, shards, strict=True):
        strangers.write(folder / name, shard)
    document = {
        "format": "layers-model",
        "generatedBy": "whygrad",
        "convertedBy": f"whygrad {__version__}",
        "modelTopology": topology,
        "weightsManifest": [{"paths": names, "weights": entries}],
    }
    strangers.write(folder / "model.json", json.dumps(document))
    return [folder / "model.json", *(folder / name for name in names)]


def _entry(name: str, array: np.ndarray, quantize: str | None) -> tuple[dict[str, Any], bytes]:
    entry: dict[str, Any] = {"name": name, "shape": list(array.shape), "dtype": "float32"}
    array = np.ascontiguousarray(array, "<f4")
    if quantize is None:
        return entry, array.tobytes()
    entry["quantization"] = {"dtype": quantize, "original_dtype": "float32"}
    if quantize == "float16":
        if np.abs(array).max(initial=0) > np.finfo(np.float16).max:
            raise ModelError(f"the weight {name!r} holds numbers that float16 cannot")
        return entry, array.astype("<f2").tobytes()
    scale, minimum = _range(array, np.iinfo(quantize).max)
    entry["quantization"] |= {"scale": scale, "min": minimum}
    levels = np.round((array.astype(np.float64) - minimum) / scale)
    return entry, levels.clip(0, np.iinfo(quantize).max).astype(
        np.dtype(quantize).newbyteorder("<")
    ).tobytes()


def _range(array: np.ndarray, levels: int) -> tuple[float, float]:
    """Scale and smallest value; zero stays exactly zero when it is inside."""
    low, high = (float(f(array)) if array.size else 0.0 for f in (np.min, np.max))
    if low == high:
        return 1.0, low
    if low <= 0 <= high:
        scale = (high - low) / levels
        zero = round(-low / scale)
        scale = max(-low / zero if zero else 0.0, high / (levels - zero) if zero < levels else 0.0)
        return scale, -zero * scale
    return (high - low) / levels, low


def _chain(model: Model) -> dict[str, Any]:
    """The topology of a Sequential model; its first layer says the shape of the input."""
    first, *rest = (_layer(model.network.layers[call.layer]) for call in model.network.calls)
    if not rest:
        raise ModelError("the model has no layers besides its input")
    rest[0]["config"]["batch_input_shape"] = first["config"]["batch_input_shape"]
    return {
        "name": model.network.name,
        "layers": [{k: raw[k] for k in ("class_name", "config")} for raw in rest],
    }


def _graph(model: Model) -> dict[str, Any]:
    """The topology of a functional model, in the dialect of Keras 2, which TensorFlow.js speaks."""
    nodes: dict[str, list[Any]] = {name: [] for name in model.network.layers}
    refs: list[list[Any]] = []
    for call in model.network.calls:
        refs.append([call.layer, len(nodes[call.layer]), 0])
        if call.inputs:
            nodes[call.layer].append([[*refs[i], {}] for i in call.inputs])
        else:
            nodes[call.layer] = []
    layers = [_layer(layer) | {"inbound_nodes": nodes[layer.name]} for layer in model.network.layers.values()]
    return {
        "name": model.network.name,
        "trainable": True,
        "layers": layers,
        "input_layers": [refs[i] for i in model.network.inputs],
        "output_layers": [refs[i] for i in model.network.outputs],
    }


def _layer(layer: Layer) -> dict[str, Any]:
    """One layer, with the names that TensorFlow.js has for the options."""
    options = {key: list(v) if isinstance(v, tuple) else v for key, v in layer.options.items()}
    for wrong, advice in _MISSING.get(layer.kind, ()):
        if wrong(options):
            raise ModelError(f"the {layer.kind} layer {layer.name!r} {advice}")
    if layer.kind == "InputLayer":
        options = {"batch_input_shape": [None, *options["shape"]], "dtype": options["dtype"], "sparse": False}
    if layer.kind == "LeakyReLU":
        options = {"alpha": options["negative_slope"]}
    config = {"name": layer.name, "trainable": True} | options
    for key in ("groups", "keepdims", "threshold", *(["negative_slope"] if layer.kind == "ReLU" else [])):
        config.pop(key, None)
    return {"name": layer.name, "class_name": layer.kind, "config": config}


# What Keras has and TensorFlow.js 4 has not; it would refuse the model, or worse, not notice.
_MISSING: dict[str, list[tuple[Callable[[dict[str, Any]], bool], str]]] = {
    "Subtract": [
        (lambda o: True, "cannot be written: TensorFlow.js has no Subtract; use Add with negated weights")
    ],
    "ReLU": [
        (
            lambda o: o["negative_slope"] != 0,
            "has a negative_slope, which TensorFlow.js has not: use LeakyReLU",
        )
    ],
    "ELU": [(lambda o: o["alpha"] != 1, "has an alpha that is not 1, which TensorFlow.js does not support")],
    "GRU": [
        (
            lambda o: o["reset_after"],
            "has reset_after=True, which TensorFlow.js has not: make it with reset_after=False",
        )
    ],
}
