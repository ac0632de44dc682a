"""Layers, as far as they show in a flow: which sums are a bias and no sum of the user's."""

from __future__ import annotations

from whygrad.model import Flow, Kind, Op


def adds_bias(flow: Flow, op: Op) -> bool:
    """``x @ kernel + bias``, where a framework adds the bias in an operation of its own."""
    if op.kind is not Kind.ADD or len(op.inputs) != 2:
        return False
    for bias, rest in (op.inputs, op.inputs[::-1]):
        if flow.parameter(bias) is not None and flow.parameter(rest) is None:
            return any(flow.parameter(i) is not None for i in flow[rest].inputs)
    return False
