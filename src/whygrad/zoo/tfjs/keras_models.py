"""Keras 3 models from ours, and ours from Keras models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np

from whygrad.zoo.tfjs import topology
from whygrad.zoo.tfjs.network import Layer, Model, ModelError

# hard_sigmoid is 0.2 x + 0.5 in TensorFlow.js and Keras 2, and x / 6 + 0.5 in Keras 3.
_STEEPER = 1.2
_GATES = {"LSTM": (0, 1, 3), "GRU": (0, 1)}


def build(model: Model) -> keras.Model:
    """The same network in Keras, weights loaded; Sequential if it is one."""
    made = {
        layer.name: _layer(layer) for layer in model.network.layers.values() if layer.kind != "InputLayer"
    }
    if model.network.chain:
        first, *rest = model.network.calls
        built = keras.Sequential([_input(model, first.layer), *(made[call.layer] for call in rest)])
    else:
        values: list[Any] = []
        for call in model.network.calls:
            given = [values[i] for i in call.inputs]
            if not given:
                values.append(_input(model, call.layer))
            else:
                values.append(made[call.layer](given[0] if len(given) == 1 else given))
        inputs, outputs = (
            [values[i] for i in ends] for ends in (model.network.inputs, model.network.outputs)
        )
        built = keras.Model(
            inputs[0] if len(inputs) == 1 else inputs, outputs[0] if len(outputs) == 1 else outputs
        )
    for (layer, weight), variable in variables(built).items():
        array = model.weights[layer, weight]
        variable.assign(_hard_sigmoid(model.network.layers[layer], weight, array, _STEEPER))
    return built


def variables(model: keras.Model) -> dict[tuple[str, str], Any]:
    """The variables of a Keras model by layer and by the name that TensorFlow.js has for them."""
    found = {}
    for layer in _layers(model):
        for variable in layer.weights:
            depthwise = isinstance(layer, keras.layers.DepthwiseConv2D) and variable.name == "kernel"
            found[layer.name, "depthwise_kernel" if depthwise else variable.name] = variable
    return found


def from_keras(model: keras.Model) -> Model:
    """A Keras model as one of ours."""
    if not isinstance(model, keras.Sequential | keras.Model) or not model.built:
        raise ModelError("only a built Sequential or functional Keras model can be written")
    try:
        config = model.get_config()
    except NotImplementedError:
        raise ModelError(
            "a Keras model with a call method of its own has no topology that could be written"
        ) from None
    kind = "Sequential" if isinstance(model, keras.Sequential) else "Functional"
    raw: dict[str, Any] = {"class_name": kind, "config": _plain(config)}
    if kind == "Sequential" and raw["config"]["layers"][0]["class_name"] != "InputLayer":
        shape = [None, *model.input_shape[1:]]
        raw["config"]["layers"].insert(
            0, {"class_name": "InputLayer", "config": {"name": "input", "batch_shape": shape}}
        )
    network = topology.parse(raw)
    arrays = {}
    for (layer, weight), variable in variables(model).items():
        if (layer, weight) not in network.weight_shapes():
            raise ModelError(f"the layer {layer!r} has a weight {weight!r} that TensorFlow.js does not know")
        array = np.asarray(keras.ops.convert_to_numpy(variable.value), np.float32)
        arrays[layer, weight] = _hard_sigmoid(network.layers[layer], weight, array, 1 / _STEEPER)
    return Model(network, arrays)


def load(path: Path) -> keras.Model:
    """A .keras or .h5 file; nothing in it is executed."""
    try:
        return keras.saving.load_model(path, compile=False, safe_mode=True)
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise ModelError(f"{path} is not a Keras model that can be loaded: {reason}") from None


def _layers(model: keras.Model) -> list[Any]:
    inner: list[Any] = []
    for layer in model.layers:
        inner += _layers(layer) if isinstance(layer, keras.Model) else [layer]
    return inner


def _plain(value: Any) -> Any:
    """Tuples as lists, and the options that Keras writes as objects by their names."""
    if isinstance(value, dict):
        if value.get("class_name") == "DTypePolicy":
            return value["config"]["name"]
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _input(model: Model, name: str) -> Any:
    options = model.network.layers[name].options
    return keras.Input(options["shape"], dtype=options["dtype"], name=name.replace("/", "_"))


def _layer(layer: Layer) -> Any:
    """A Keras layer of the same kind; the options have the names that Keras 3 uses."""
    options = {key: list(v) if isinstance(v, tuple) else v for key, v in layer.options.items()}
    if layer.kind == "Activation" and options["activation"] == "hard_sigmoid":
        raise ModelError(f"the layer {layer.name!r} is a hard_sigmoid, which is another function in Keras 3")
    options.pop("groups", None)
    if layer.kind in ("DepthwiseConv2D", "SeparableConv2D", "ZeroPadding2D", "Cropping2D", "UpSampling2D"):
        options = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    if "strides" in options and options["strides"] is None:
        del options["strides"]
    return getattr(keras.layers, layer.kind)(name=layer.name, **options)


def _hard_sigmoid(layer: Layer, weight: str, array: np.ndarray, factor: float) -> np.ndarray:
    """Weights that give the same values with the other library's hard_sigmoid."""
    if layer.options.get("activation") == "hard_sigmoid" and layer.kind not in ("SimpleRNN", "LSTM", "GRU"):
        return (
            array * np.float32(factor)
            if weight != "depthwise_kernel" or layer.kind == "DepthwiseConv2D"
            else array
        )
    if layer.options.get("recurrent_activation") == "hard_sigmoid":
        units, scaled = layer.options["units"], array.copy()
        for gate in _GATES[layer.kind]:
            scaled[..., gate * units : (gate + 1) * units] *= np.float32(factor)
        return scaled
    return array
