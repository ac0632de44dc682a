"""The layers that are known: their options, what comes out, which weights they have. No framework needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from whygrad.zoo.tfjs import options as o
from whygrad.zoo.tfjs.network import Layer, ModelError, Shape

Options = Mapping[str, Any]
Weights = dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of layer is read: from options and input shapes to output shape and weight shapes."""

    fields: o.Fields
    shape: Callable[[Options, Shape], Shape]
    weights: Callable[[Options, Shape], Weights] = lambda options, shape: {}
    rank: tuple[int, ...] = ()  # of the input, without the batch; () for any
    merges: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)


def channels(shape: Shape) -> int:
    """The last dimension, which must be known where there are weights."""
    if not shape or shape[-1] is None:
        raise ValueError("must know the last dimension of its input")
    return shape[-1]


def window(n: int | None, size: int, stride: int, padding: str, dilation: int = 1) -> int | None:
    """How many places a window has on a line."""
    if n is None:
        return None
    reach = (size - 1) * dilation + 1
    places = -(-n // stride) if padding == "same" else (n - reach) // stride + 1
    if places < 1:
        raise ValueError(f"its window of {reach} does not fit on {n}")
    return places


def windows(options: Options, shape: Shape, size: str, dilated: bool = False) -> Shape:
    """The same for each spatial dimension."""
    dilation = options["dilation_rate"] if dilated else (1,) * len(options[size])
    step = options["strides"] or options[size]
    return tuple(
        window(n, k, s, options["padding"], d)
        for n, k, s, d in zip(shape[:-1], options[size], step, dilation, strict=True)
    )


def _same(options: Options, shape: Shape) -> Shape:
    return shape


def _bias(options: Options, n: int) -> Weights:
    return {"bias": (n,)} if options["use_bias"] else {}


def _dense(options: Options, shape: Shape) -> Weights:
    return {"kernel": (channels(shape), options["units"])} | _bias(options, options["units"])


def _conv(options: Options, shape: Shape) -> Weights:
    kernel = (*options["kernel_size"], channels(shape), options["filters"])
    return {"kernel": kernel} | _bias(options, options["filters"])


def _transposed_shape(options: Options, shape: Shape) -> Shape:
    def grow(n: int | None, k: int, s: int) -> int | None:
        return None if n is None else n * s + (max(k - s, 0) if options["padding"] == "valid" else 0)

    sides = zip(shape[:-1], options["kernel_size"], options["strides"], strict=True)
    return (*(grow(*side) for side in sides), options["filters"])


def _transposed(options: Options, shape: Shape) -> Weights:
    kernel = (*options["kernel_size"], options["filters"], channels(shape))
    return {"kernel": kernel} | _bias(options, options["filters"])


def _depthwise(options: Options, shape: Shape) -> Weights:
    n, m = channels(shape), options["depth_multiplier"]
    return {"depthwise_kernel": (*options["kernel_size"], n, m)} | _bias(options, n * m)


def _separable(options: Options, shape: Shape) -> Weights:
    n, m, filters = channels(shape), options["depth_multiplier"], options["filters"]
    kernels = {
        "depthwise_kernel": (*options["kernel_size"], n, m),
        "pointwise_kernel": (1, 1, n * m, filters),
    }
    return kernels | _bias(options, filters)


def _norm(*moving: str) -> Callable[[Options, Shape], Weights]:
    def weights(options: Options, shape: Shape) -> Weights:
        n, axis = channels(shape), options["axis"]
        if axis not in (-1, len(shape)):
            raise ValueError("must normalise the last axis")
        affine = [name for name, wanted in (("gamma", "scale"), ("beta", "center")) if options[wanted]]
        return dict.fromkeys((*affine, *moving), (n,))

    return weights


def _recurrent(gates: int) -> Callable[[Options, Shape], Weights]:
    def weights(options: Options, shape: Shape) -> Weights:
        u = options["units"]
        kernels: Weights = {"kernel": (channels(shape), gates * u), "recurrent_kernel": (u, gates * u)}
        if options["use_bias"]:
            kernels["bias"] = (2, gates * u) if options.get("reset_after") else (gates * u,)
        return kernels

    return weights


def _recurrent_shape(options: Options, shape: Shape) -> Shape:
    return (shape[0], options["units"]) if options["return_sequences"] else (options["units"],)


def _flat(options: Options, shape: Shape) -> Shape:
    return (None,) if None in shape else (math.prod(n for n in shape if n is not None),)


def _reshape(options: Options, shape: Shape) -> Shape:
    wanted = options["target_shape"]
    if None in shape:
        return tuple(None if n == -1 else n for n in wanted)
    total, known = math.prod(n for n in shape if n is not None), math.prod(n for n in wanted if n != -1)
    free = wanted.count(-1)
    if free > 1 or (free == 0 and known != total) or (free and (not known or total % known)):
        raise ValueError(f"cannot make {list(wanted)} of {list(shape)}")
    return tuple(total // known if n == -1 else n for n in wanted)


def _permute(options: Options, shape: Shape) -> Shape:
    if sorted(options["dims"]) != list(range(1, len(shape) + 1)):
        raise ValueError(f"dims {list(options['dims'])} are not an order of {len(shape)} axes")
    return tuple(shape[d - 1] for d in options["dims"])


def _padded(sign: int) -> Callable[[Options, Shape], Shape]:
    def shape_of(options: Options, shape: Shape) -> Shape:
        margins = options["padding" if sign > 0 else "cropping"]
        sides = [None if n is None else n + sign * sum(m) for n, m in zip(shape[:-1], margins, strict=True)]
        if any(n is not None and n < 1 for n in sides):
            raise ValueError(f"leaves nothing of {list(shape)}")
        return (*sides, shape[-1])

    return shape_of


def _softmax(options: Options, shape: Shape) -> Shape:
    if options["axis"] not in (-1, len(shape)):
        raise ValueError("must work on the last axis")
    return shape


def _concatenated(options: Options, *shapes: Shape) -> Shape:
    rank = len(shapes[0])
    axis = options["axis"] if options["axis"] < 0 else options["axis"] - 1 - rank
    if not -rank <= axis < 0 or any(len(s) != rank for s in shapes):
        raise ValueError(f"cannot join {[list(s) for s in shapes]} along axis {options['axis']}")
    rest = {s[:axis] + s[rank + axis + 1 :] for s in shapes}
    if len(rest) > 1:
        raise ValueError(f"cannot join {[list(s) for s in shapes]} along axis {options['axis']}")
    joined = [s[axis] for s in shapes]
    total = None if None in joined else sum(n for n in joined if n is not None)
    return (*shapes[0][:axis], total, *shapes[0][rank + axis + 1 :])


def _broadcast(options: Options, *shapes: Shape) -> Shape:
    if any(len(s) != len(shapes[0]) for s in shapes):
        raise ValueError(f"cannot combine {[list(s) for s in shapes]}")

    def side(ns: tuple[int | None, ...]) -> int | None:
        real = {n for n in ns if n != 1} or {1}
        if len(real) > 1:
            raise ValueError(f"cannot combine {[list(s) for s in shapes]}")
        return real.pop()

    return tuple(side(ns) for ns in zip(*shapes, strict=True))


_LAST: dict[str, Any] = {"data_format": ("channels_last", o.one_of("channels_last"))}
_BIAS: dict[str, Any] = {"use_bias": (True, o.flag)}
_ACTIVE: dict[str, Any] = {"activation": ("linear", o.activation)}


def _window_fields(rank: int, *more: Mapping[str, Any]) -> o.Fields:
    fields: dict[str, Any] = {
        "kernel_size": (o.REQUIRED, o.sizes(rank)),
        "strides": (1, o.sizes(rank)),
        "padding": ("valid", o.one_of("valid", "same")),
        "dilation_rate": (1, o.sizes(rank)),
        "groups": (1, o.one_of(1)),
    }
    for part in (_LAST, _ACTIVE, _BIAS, *more):
        fields.update(part)
    return fields


def _pool(rank: int) -> Kind:
    fields = {
        "pool_size": (2, o.sizes(rank)),
        "strides": (None, o.optional(o.sizes(rank))),
        "padding": ("valid", o.one_of("valid", "same")),
    } | _LAST
    return Kind(fields, lambda c, s: (*windows(c, s, "pool_size"), s[-1]), rank=(rank + 1,))


def _global(rank: int) -> Kind:
    fields = {"keepdims": (False, o.one_of(False))} | _LAST
    return Kind(fields, lambda c, s: (s[-1],), rank=(rank + 1,))


def _convolution(rank: int) -> Kind:
    fields = _window_fields(rank, {"filters": (o.REQUIRED, o.whole())})
    return Kind(fields, lambda c, s: (*windows(c, s, "kernel_size", True), c["filters"]), _conv, (rank + 1,))


def _rnn(gates: int, **more: Any) -> Kind:
    fields = {
        "units": (o.REQUIRED, o.whole()),
        "activation": ("tanh", o.activation),
        "return_sequences": (False, o.flag),
        "dropout": (0, o.one_of(0, 0.0)),
        "recurrent_dropout": (0, o.one_of(0, 0.0)),
    } | _BIAS
    return Kind(fields | more, _recurrent_shape, _recurrent(gates), (2,))


_GATE = {"recurrent_activation": ("hard_sigmoid", o.activation)}
_MULTIPLIER = {"depth_multiplier": (1, o.whole())}
_NORM = {"center": (True, o.flag), "scale": (True, o.flag), "axis": (-1, o.axis)}
_UNSTRIDED = {"strides": (1, o.sizes(2)), "dilation_rate": (1, o.one_of(1, (1, 1), [1, 1]))}
_SLOPE = (0.3, o.number(0, 1e6))
_MERGE = Kind({}, _broadcast, merges=True)

KINDS: Mapping[str, Kind] = {
    "Dense": Kind(
        {"units": (o.REQUIRED, o.whole())} | _ACTIVE | _BIAS, lambda c, s: (*s[:-1], c["units"]), _dense
    ),
    "Conv1D": _convolution(1),
    "Conv2D": _convolution(2),
    "Conv2DTranspose": Kind(
        _window_fields(2, {"filters": (o.REQUIRED, o.whole())}, _UNSTRIDED),
        _transposed_shape,
        _transposed,
        (3,),
    ),
    "DepthwiseConv2D": Kind(
        _window_fields(2, _MULTIPLIER),
        lambda c, s: (*windows(c, s, "kernel_size", True), channels(s) * c["depth_multiplier"]),
        _depthwise,
        (3,),
    ),
    "SeparableConv2D": Kind(
        _window_fields(2, _MULTIPLIER, {"filters": (o.REQUIRED, o.whole())}),
        lambda c, s: (*windows(c, s, "kernel_size", True), c["filters"]),
        _separable,
        (3,),
    ),
    "MaxPooling1D": _pool(1),
    "MaxPooling2D": _pool(2),
    "AveragePooling1D": _pool(1),
    "AveragePooling2D": _pool(2),
    "GlobalMaxPooling1D": _global(1),
    "GlobalMaxPooling2D": _global(2),
    "GlobalAveragePooling1D": _global(1),
    "GlobalAveragePooling2D": _global(2),
    "BatchNormalization": Kind(
        {"momentum": (0.99, o.number(0, 1)), "epsilon": (1e-3, o.number(0, 1))} | _NORM,
        _same,
        _norm("moving_mean", "moving_variance"),
    ),
    "LayerNormalization": Kind({"epsilon": (1e-3, o.number(0, 1))} | _NORM, _same, _norm()),
    "Dropout": Kind({"rate": (o.REQUIRED, o.number(0, 0.999999))}, _same),
    "Flatten": Kind(dict(_LAST), _flat),
    "Reshape": Kind({"target_shape": (o.REQUIRED, o.whole_list(-1))}, _reshape),
    "Permute": Kind({"dims": (o.REQUIRED, o.whole_list(1))}, _permute),
    "RepeatVector": Kind({"n": (o.REQUIRED, o.whole())}, lambda c, s: (c["n"], *s), rank=(1,)),
    "Activation": Kind({"activation": (o.REQUIRED, o.activation)}, _same),
    "ReLU": Kind(
        {
            "max_value": (None, o.optional(o.number(0))),
            "negative_slope": (0.0, o.number(0, 1e6)),
            "threshold": (0.0, o.one_of(0, 0.0)),
        },
        _same,
    ),
    "LeakyReLU": Kind({"negative_slope": _SLOPE}, _same, aliases={"alpha": "negative_slope"}),
    "ELU": Kind({"alpha": (1.0, o.number(0, 1e6))}, _same),
    "Softmax": Kind({"axis": (-1, o.axis)}, _softmax),
    "ZeroPadding2D": Kind({"padding": (1, o.edges)} | _LAST, _padded(1), rank=(3,)),
    "Cropping2D": Kind({"cropping": (0, o.edges)} | _LAST, _padded(-1), rank=(3,)),
    "UpSampling2D": Kind(
        {"size": (2, o.sizes(2)), "interpolation": ("nearest", o.one_of("nearest"))} | _LAST,
        lambda c, s: (*(None if n is None else n * k for n, k in zip(s, c["size"], strict=False)), s[-1]),
        rank=(3,),
    ),
    "Embedding": Kind(
        {
            "input_dim": (o.REQUIRED, o.whole()),
            "output_dim": (o.REQUIRED, o.whole()),
            "mask_zero": (False, o.one_of(False)),
        },
        lambda c, s: (*s, c["output_dim"]),
        lambda c, s: {"embeddings": (c["input_dim"], c["output_dim"])},
    ),
    "SimpleRNN": _rnn(1),
    "LSTM": _rnn(4, **_GATE),
    "GRU": _rnn(3, **_GATE, reset_after=(False, o.flag)),
    "Add": _MERGE,
    "Subtract": _MERGE,
    "Multiply": _MERGE,
    "Average": _MERGE,
    "Maximum": _MERGE,
    "Minimum": _MERGE,
    "Concatenate": Kind({"axis": (-1, o.axis)}, _concatenated, merges=True),
}


def layer(kind: str, name: str, raw: Mapping[str, Any], shapes: tuple[Shape, ...]) -> tuple[Layer, Shape]:
    """A checked layer and what comes out of it, or the reason why not."""
    known = KINDS.get(kind)
    if known is None:
        raise ModelError(f"the layer {name!r} is a {str(kind)[:40]!r}, which is not supported")
    raw = {known.aliases.get(key, key): value for key, value in raw.items()}
    chosen = o.read(kind, name, raw, known.fields)
    try:
        if (len(shapes) < 2) if known.merges else (len(shapes) != 1):
            raise ValueError(f"has {len(shapes)} inputs")
        if kind == "Subtract" and len(shapes) != 2:
            raise ValueError(f"takes two inputs, not {len(shapes)}")
        if known.rank and len(shapes[0]) not in known.rank:
            raise ValueError(
                f"takes inputs of {known.rank[0]} dimensions besides the batch, not {list(shapes[0])}"
            )
        if not known.merges and not shapes[0] and kind != "Activation":
            raise ValueError("takes more than one number per example")
        out = known.shape(chosen, *shapes)
        if any(n is not None and n > o.LARGEST for n in out):
            raise ValueError(f"gives {list(out)}, which is too large")
        return Layer(name, kind, chosen, known.weights(chosen, shapes[0]), o.left_out(raw)), out
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"the {kind} layer {name!r} {error}") from None
