"""The options of layers: each is checked by a small function, and whatever is not known is refused."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

from whygrad.zoo.tfjs.network import ModelError

Check = Callable[[Any], Any]  # the value as it is to be used, or ValueError with the words "must be ..."

LARGEST = 2**31 - 1
REQUIRED = object()

ACTIVATIONS = (
    "linear",
    "relu",
    "relu6",
    "elu",
    "selu",
    "sigmoid",
    "hard_sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
    "swish",
    "mish",
    "gelu",
)
# What does not change the function that a layer computes, or only how it would be started afresh.
_WITHOUT_EFFECT = {
    "name",
    "trainable",
    "dtype",
    "batch_input_shape",
    "batch_shape",
    "input_dtype",
    "input_shape",
    "seed",
    "implementation",
    "unit_forget_bias",
    "time_major",
    "unroll",
    "zero_output_for_mask",
    "use_cudnn",
    "input_length",
    "synchronized",
    "renorm_momentum",
    "autocast",
    "optional",
    "sparse",
    "ragged",
    "build_config",
}


def is_number(value: Any) -> bool:
    """A finite one: neither NaN nor a whole number of four hundred digits, which no float can be."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def number(low: float = -math.inf, high: float = math.inf) -> Check:
    """A finite number between these."""

    def check(value: Any) -> float:
        if not is_number(value):
            raise ValueError("must be a number")
        if not low <= value <= high:
            raise ValueError(f"must be between {low:g} and {high:g}")
        return value

    return check


def whole(low: int = 1, high: int = LARGEST) -> Check:
    """A whole number between these."""

    def check(value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"must be a whole number from {low} on")
        return value

    return check


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def one_of(*words: Any) -> Check:
    """One of a few values."""

    def check(value: Any) -> Any:
        if not any(value is word or (type(value) is type(word) and value == word) for word in words):
            raise ValueError(f"must be {' or '.join(map(repr, words))}")
        return value

    return check


def sizes(count: int, low: int = 1) -> Check:
    """As many whole numbers; a single one stands for all."""

    def check(value: Any) -> tuple[int, ...]:
        values = value if isinstance(value, list | tuple) else [value] * count
        if len(values) != count:
            raise ValueError(f"must be {count} whole numbers")
        return tuple(whole(low)(v) for v in values)

    return check


def edges(value: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """((top, bottom), (left, right))."""
    pair = value if isinstance(value, list | tuple) else [value, value]
    if len(pair) != 2:
        raise ValueError("must be two pairs of whole numbers")
    vertical, horizontal = (sizes(2, 0)(side) for side in pair)
    return (vertical[0], vertical[1]), (horizontal[0], horizontal[1])


def whole_list(low: int) -> Check:
    """A list of whole numbers."""

    def check(value: Any) -> tuple[int, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError("must be a list of whole numbers")
        return tuple(whole(low)(v) for v in value)

    return check


def axis(value: Any) -> int:
    """One axis, alone or in a list."""
    alone = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
    return whole(-8, 8)(alone)


def activation(value: Any) -> str:
    """The name of an activation function that is known here."""
    value = {"silu": "swish", None: "linear"}.get(value, value) if isinstance(value, str | None) else value
    if not isinstance(value, str) or value not in ACTIVATIONS:
        raise ValueError(f"must be one of {', '.join(ACTIVATIONS)}")
    return value


def optional(check: Check) -> Check:
    """The same, or nothing."""
    return lambda value: None if value is None else check(value)


# These say how weights may move while training; a converted network computes the same without them.
TRAINING_ONLY = ("_regularizer", "_constraint")

Fields = Mapping[str, tuple[Any, Check]]


def read(kind: str, name: str, raw: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """The options of one layer, all of them checked; unknown ones only if they say nothing."""
    chosen = {}
    for key, (default, check) in fields.items():
        value = raw.get(key, default)
        if value is REQUIRED:
            raise ModelError(f"the {kind} layer {name!r} does not say its {key}")
        try:
            chosen[key] = check(value)
        except ValueError as error:
            shown = repr(value)[:60]
            raise ModelError(f"the {kind} layer {name!r}: {key} {error}, and here it is {shown}") from None
    for key, value in raw.items():
        if key in fields or key in _WITHOUT_EFFECT or key.endswith(("_initializer", *TRAINING_ONLY)):
            continue
        if value not in (None, False, [], {}):
            raise ModelError(f"the {kind} layer {name!r} has an option that is not known here: {key!r}")
    return chosen


def left_out(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The options that a conversion loses, for the user to know."""
    return tuple(key for key, value in raw.items() if key.endswith(TRAINING_ONLY) and value)
