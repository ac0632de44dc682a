"""A torch model as python source that stands on its own, and the weights that belong to it."""

from __future__ import annotations

import ast
import functools
import keyword
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from whygrad.zoo.tfjs.network import Layer, Model, ModelError, Shape

_LAYERS = Path(__file__).with_name("torch_layers.py")
_Options = Mapping[str, Any]


def source(model: Model) -> str:
    """The file model.py: the layers that are used, the model, and how to load it."""
    names = identifiers(model)
    makers, steps = _statements(model, names)
    body = "\n".join(makers) or "        pass"
    library = _library("\n".join([*makers, *steps]))
    inputs = [(f"x{i}", model.network.calls[i].shape) for i in model.network.inputs]
    takes = "; ".join(f"{name}: [batch, {_sides(shape)}]" for name, shape in inputs)
    results = ", ".join(f"x{i}" for i in model.network.outputs)
    return f'''"""A TensorFlow.js model in torch, converted by whygrad. Needs torch and nothing else.

    from model import load      # or whatever this file is called
    model = load()          # the weights are in the .pt file of the same name; in inference mode

Takes {takes}: as in TensorFlow, channels come last.
"""

{library}

class Model(nn.Module):
    """The converted network."""

    def __init__(self):
        super().__init__()
{body}

    def forward(self, {", ".join(name for name, _ in inputs)}):
{chr(10).join(steps)}
        return {results}


def load(weights=Path(__file__).with_suffix(".pt")):
    """The model with its weights, in inference mode; nothing but numbers is unpickled."""
    model = Model()
    model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    return model.eval()
'''


def identifiers(model: Model) -> dict[str, str]:
    """A python name for each layer, and nothing else that a file could have smuggled in."""
    chosen: dict[str, str] = {}
    taken = {"forward", "load", "training", "double", "float", "half", "type", "to", "apply", "train", "eval"}
    for name in model.network.layers:
        short = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower() or "layer"
        short = f"layer_{short}" if short[0].isdigit() or keyword.iskeyword(short) else short
        unique, n = short, 2
        while unique in taken:
            unique, n = f"{short}_{n}", n + 1
        taken.add(unique)
        chosen[name] = unique
    return chosen


def state(model: Model) -> dict[str, np.ndarray]:
    """The weights as torch lays them out, by their names in the module."""
    names, arrays = identifiers(model), {}
    for (layer, weight), array in model.weights.items():
        name, moved = to_torch(model.network.layers[layer], weight, array)
        arrays[f"{names[layer]}.{name}"] = np.ascontiguousarray(moved)
    return arrays


def to_torch(layer: Layer, weight: str, array: np.ndarray) -> tuple[str, np.ndarray]:
    """What torch calls this weight, and how it lies there."""
    name = _NAMES.get(weight, weight)
    match layer.kind, weight:
        case "Dense", "kernel":
            return "weight", array.T
        case ("Conv1D", "kernel"):
            return "weight", array.transpose(2, 1, 0)
        case ("Conv2D" | "Conv2DTranspose", "kernel"):
            return "weight", array.transpose(3, 2, 0, 1)
        case ("DepthwiseConv2D", "depthwise_kernel"):
            return "weight", _depthwise(array)
        case ("SeparableConv2D", "depthwise_kernel"):
            return "depthwise.weight", _depthwise(array)
        case ("SeparableConv2D", "pointwise_kernel"):
            return "pointwise.weight", array.transpose(3, 2, 0, 1)
        case ("SeparableConv2D", "bias"):
            return "pointwise.bias", array
    return name, array


_NAMES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embeddings": "weight",
}


def from_torch(layer: Layer, weight: str, array: np.ndarray) -> np.ndarray:
    """A torch weight, or its gradient, as it lies in TensorFlow."""
    shape = layer.weights[weight]
    match layer.kind, weight:
        case "Dense", "kernel":
            return array.T
        case ("Conv1D", "kernel"):
            return array.transpose(2, 1, 0)
        case ("Conv2D" | "Conv2DTranspose", "kernel") | ("SeparableConv2D", "pointwise_kernel"):
            return array.transpose(2, 3, 1, 0)
        case (_, "depthwise_kernel"):
            return array.reshape(shape[2], shape[3], shape[0], shape[1]).transpose(2, 3, 0, 1)
    return array


def _depthwise(array: np.ndarray) -> np.ndarray:
    height, width, inputs, multiplier = array.shape
    return array.transpose(2, 3, 0, 1).reshape(inputs * multiplier, 1, height, width)


def _statements(model: Model, names: Mapping[str, str]) -> tuple[list[str], list[str]]:
    makers, steps, made = [], [], set()
    for i, call in enumerate(model.network.calls):
        layer = model.network.layers[call.layer]
        if layer.kind == "InputLayer":
            continue
        given = [model.network.calls[j] for j in call.inputs]
        xs = [f"x{j}" for j in call.inputs]
        made_by, used_by = _PLAIN.get(layer.kind), _INLINE.get(layer.kind)
        if used_by:
            steps.append(f"        x{i} = {used_by(layer.options, xs, given[0].shape)}")
            continue
        if made_by is None:
            raise ModelError(
                f"the layer {layer.name!r} is a {layer.kind!r}, which cannot be written in torch yet"
            )
        if layer.name not in made:
            made.add(layer.name)
            makers.append(f"        self.{names[layer.name]} = {made_by(layer.options, given[0].shape)}")
        steps.append(f"        x{i} = self.{names[layer.name]}({xs[0]})")
    return makers, steps


def _call(name: str, *positional: str, drop: tuple[str, ...] = ()) -> Callable[[_Options, Shape], str]:
    """``Name(channels, option, ...)``: every value is a checked number, word or tuple of them."""

    def make(options: _Options, shape: Shape) -> str:
        channels = [repr(shape[-1])] if name not in _WITHOUT_CHANNELS else []
        first = [repr(options[key]) for key in positional]
        unused = {*positional, *drop, "data_format", "groups", "axis", "threshold"}
        named = [f"{key}={value!r}" for key, value in options.items() if key not in unused]
        return f"{name}({', '.join([*channels, *first, *named])})"

    return make


def _pool(largest: bool) -> Callable[[_Options, Shape], str]:
    return lambda o, s: (
        f"Pooling({largest}, {o['pool_size']}, {o['strides'] or o['pool_size']}, {o['padding']!r})"
    )


def _depthwise_conv(o: _Options, shape: Shape) -> str:
    n = shape[-1] or 0
    rest = ", ".join(
        repr(o[key])
        for key in ("kernel_size", "strides", "padding", "dilation_rate", "activation", "use_bias")
    )
    return f"Conv2D({n}, {n * o['depth_multiplier']}, {rest}, groups={n})"


def _margins(key: str, sign: int) -> Callable[[_Options, Shape], str]:
    return lambda o, s: f"ZeroPadding2D({', '.join(str(sign * n) for side in o[key] for n in side)})"


_WITHOUT_CHANNELS = ("ReLU", "nn.LeakyReLU", "nn.ELU", "Embedding")

_PLAIN: Mapping[str, Callable[[_Options, Shape], str]] = {
    "Dense": _call("Dense", "units"),
    "Conv1D": _call("Conv1D", "filters", "kernel_size"),
    "Conv2D": _call("Conv2D", "filters", "kernel_size"),
    "Conv2DTranspose": _call("Conv2DTranspose", "filters", "kernel_size", drop=("dilation_rate",)),
    "DepthwiseConv2D": _depthwise_conv,
    "SeparableConv2D": _call("SeparableConv2D", "filters", "kernel_size"),
    "MaxPooling1D": _pool(True),
    "MaxPooling2D": _pool(True),
    "AveragePooling1D": _pool(False),
    "AveragePooling2D": _pool(False),
    "BatchNormalization": _call("BatchNormalization"),
    "LayerNormalization": _call("LayerNormalization"),
    "Dropout": lambda o, s: f"nn.Dropout({o['rate']!r})",
    "Activation": lambda o, s: f"Activation({o['activation']!r})",
    "ReLU": _call("ReLU"),
    "LeakyReLU": _call("nn.LeakyReLU", "negative_slope"),
    "ELU": _call("nn.ELU", "alpha"),
    "Softmax": lambda o, s: "nn.Softmax(-1)",
    "ZeroPadding2D": _margins("padding", 1),
    "Cropping2D": _margins("cropping", -1),
    "UpSampling2D": lambda o, s: f"UpSampling2D({o['size'][0]}, {o['size'][1]})",
    "Embedding": _call("Embedding", "input_dim", "output_dim", drop=("mask_zero",)),
    "SimpleRNN": _call("SimpleRNN", "units", drop=("dropout", "recurrent_dropout")),
    "LSTM": _call("LSTM", "units", drop=("dropout", "recurrent_dropout")),
    "GRU": _call("GRU", "units", drop=("dropout", "recurrent_dropout")),
}


def _fold(form: str) -> Callable[[_Options, list[str], Shape], str]:
    def write(o: _Options, xs: list[str], shape: Shape) -> str:
        text = xs[0]
        for x in xs[1:]:
            text = form.format(text, x)
        return text

    return write


_INLINE: Mapping[str, Callable[[_Options, list[str], Shape], str]] = {
    "Flatten": lambda o, xs, s: f"{xs[0]}.flatten(1)",
    "Reshape": lambda o, xs, s: f"{xs[0]}.reshape(len({xs[0]}), {', '.join(map(str, o['target_shape']))})",
    "Permute": lambda o, xs, s: f"{xs[0]}.permute(0, {', '.join(map(str, o['dims']))})",
    "RepeatVector": lambda o, xs, s: f"{xs[0]}.unsqueeze(1).expand(-1, {o['n']}, -1)",
    "GlobalMaxPooling1D": lambda o, xs, s: f"{xs[0]}.amax(1)",
    "GlobalMaxPooling2D": lambda o, xs, s: f"{xs[0]}.amax((1, 2))",
    "GlobalAveragePooling1D": lambda o, xs, s: f"{xs[0]}.mean(1)",
    "GlobalAveragePooling2D": lambda o, xs, s: f"{xs[0]}.mean((1, 2))",
    "Add": _fold("{} + {}"),
    "Subtract": _fold("{} - {}"),
    "Multiply": _fold("{} * {}"),
    "Average": lambda o, xs, s: f"({' + '.join(xs)}) / {len(xs)}",
    "Maximum": _fold("torch.maximum({}, {})"),
    "Minimum": _fold("torch.minimum({}, {})"),
    "Concatenate": lambda o, xs, s: f"torch.cat([{', '.join(xs)}], {o['axis']})",
}


@functools.cache
def _pieces() -> dict[str, str]:
    """The definitions of torch_layers.py, as text."""
    text = _LAYERS.read_text(encoding="utf-8")
    defined = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return {node.name: ast.get_source_segment(text, node) or "" for node in defined}


def _library(used: str) -> str:
    """The imports and those definitions of torch_layers.py that this code needs, directly or not."""
    pieces = _pieces()
    needed: set[str] = set()
    fresh = {name for name in pieces if re.search(rf"\b{name}\(", used)}
    while fresh:
        needed |= fresh
        bodies = "\n".join(pieces[name] for name in fresh)
        fresh = {name for name in pieces if re.search(rf"(?<![.\w]){name}\b", bodies)} - needed
    chosen = [piece for name, piece in pieces.items() if name in needed]
    code = "\n\n\n".join(chosen)
    imports = ["import math"] if "math." in code else []
    imports += ["from pathlib import Path", "", "import torch"]
    imports += ["import torch.nn.functional as F"] if "F." in code else []
    return "\n".join([*imports, "from torch import nn", "", "", code, ""])


def _sides(shape: Shape) -> str:
    return ", ".join("any" if n is None else str(n) for n in shape)
