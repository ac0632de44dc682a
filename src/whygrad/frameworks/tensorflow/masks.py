"""Masks of data: is ``1 - done`` really made of zeros and ones?"""

from __future__ import annotations

from typing import Any

from whygrad.frameworks.shared.masks import MOST, may_be_inverted
from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.shared.objects import is_a
from whygrad.frameworks.tensorflow import private, vocabulary
from whygrad.frameworks.tensorflow.values import Value


def is_mask(value: Value) -> bool:
    """``1 - done``, of data."""
    return value.name == "rsub" and value.numbers == (1.0,) and not value.tainted


def holds_more(tensor: Any) -> bool:
    """Are there other numbers than 0 and 1 in it?"""
    values = _numbers(tensor)
    return values is not None and bool(((values != 0) & (values != 1)).any())


def looks_inverted(tensor: Any) -> bool:
    """Two whole numbers that are not those of a mask or a sign: ``~done``, made outside of TensorFlow."""
    values = _numbers(tensor)
    if values is None or values.size < 2:
        return False
    low, high = float(values.min()), float(values.max())
    return may_be_inverted(low, high) and bool(((values == low) | (values == high)).all())


def ones_in(tensor: Any) -> tuple[int, ...]:
    """Of nothing but zeros and ones: how many ones, and of how many; nothing if there is anything else."""
    values = _numbers(tensor)
    if values is None or bool(((values != 0) & (values != 1)).any()):
        return ()
    return int((values != 0).sum()), int(values.size)


def count_ones(argument: Value, tensor: Any) -> None:
    """What a compiled function is given: ones of a factor, and zeros that ``1 - x`` makes ones of."""
    found = ones_in(tensor)
    for value in (*argument.masks, *((argument,) if argument.factor else ())):
        if not found:
            value.ones = ()
            continue
        ones, all_of_them = value.ones or (0, 0)
        kept = found[0] if value is argument else found[1] - found[0]
        value.ones = (ones + kept, all_of_them + found[1])


def _numbers(tensor: Any) -> Any:
    values = private.contents(tensor) if is_a(tensor, private.EAGER_TENSOR) else None
    return values if values is not None and 0 < values.size <= MOST and values.dtype.kind in "fiub" else None


def note_mask(mask: Value) -> None:
    """``1 - done`` in compiled code: what ``done`` holds is known when the function is called."""
    argument = _argument(mask.inputs[0])
    if argument is not None:
        argument.masks = (*argument.masks, mask)


def is_weighed(value: Value) -> bool:
    """A value of a network, or a discount, times something."""
    discount = len(value.inputs) == 1 and value.numbers and 0 < value.numbers[0] < 1
    return value.name == "mul" and bool(discount or (len(value.inputs) == 2 and value.tainted))


def note_factors(product: Value) -> None:
    """``~done`` may have been made outside, and given to compiled code."""
    for source in product.inputs:
        argument = _argument(source)
        if argument is not None:
            argument.factor = True


def _argument(source: Node) -> Value | None:
    """What a compiled function was given, if this is it."""
    for _ in range(4):
        if isinstance(source, Value) and source.name == "argument":
            return source
        if not vocabulary.keeps_number(source.name) or not source.inputs:
            return None
        source = source.inputs[0]
    return None
