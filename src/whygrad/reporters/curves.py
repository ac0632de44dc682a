"""What event files say, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whygrad.summaries.interpreting import Remark, is_gradient, is_loss
from whygrad.summaries.reading import Curve

_MEANING = {
    "non-finite": "NaN or Inf: whatever is computed from it is lost from then on",
    "exploding": "grows without bound: a smaller learning rate, clipping, or normalised rewards and returns",
    "vanishing": "the variable has all but stopped to learn: look at saturated activations and at the loss",
    "zero-gradient": "connected, but exactly zero: dead ReLU units, a saturated output, or a zero advantage",
    "stalled": "the loss does not move: is it constant, or is the learning rate zero?",
    "absent": "no gradient: it is cut off, or not asked for; `whygrad run train.py` names the line",
}
_MOST = 8


def render(
    folder: str, runs: Mapping[str, Mapping[str, Curve]], found: Mapping[str, Sequence[Remark]]
) -> str:
    """One paragraph per run, one line per series that is not as it should be."""
    lines = []
    for run, series in runs.items():
        name = folder if run == "." else f"{folder}/{run}"
        lines.append(f"{name}: {_counted(series)}")
        remarks = found[run]
        if not remarks:
            lines.append("  " + _healthy(series))
        for what in dict.fromkeys(remark.what for remark in remarks):
            same = [remark for remark in remarks if remark.what == what]
            lines.append(f"  {what}: {_MEANING[what]}")
            lines += [f"    {remark.tag}: {remark.text}" for remark in same[:_MOST]]
            if len(same) > _MOST:
                lines.append(f"    and {len(same) - _MOST} more")
    return "\n".join(lines) + "\n"


def _counted(series: Mapping[str, Curve]) -> str:
    gradients = sum(is_gradient(tag) for tag in series)
    losses = sum(is_loss(tag) for tag in series)
    last = max((curve.steps[-1] for curve in series.values()), default=0)
    return f"{len(series)} series up to step {last}, {gradients} of gradients, {losses} of losses"


def _healthy(series: Mapping[str, Curve]) -> str:
    if not any(is_gradient(tag) or is_loss(tag) for tag in series):
        return "nothing to judge: `whygrad run --watch train.py` writes gradients of every variable"
    if not any(is_gradient(tag) for tag in series):
        return "the losses look healthy; gradients were not written: `whygrad run --watch train.py` does it"
    return "gradients and losses look healthy"
