"""What series of gradients and losses say, whoever wrote them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whygrad.flow.magnitudes import NOTHING, ends, has_exploded, has_fallen, has_grown
from whygrad.summaries.reading import Curve

#: A series has to have so many points before its course is judged.
ENOUGH = 20

_GRADIENT = re.compile(r"(^|[^a-z])grad(ient)?s?($|[^a-z])", re.IGNORECASE)
_LOSS = re.compile(r"loss|td_error", re.IGNORECASE)
_NOT_GRADIENT = re.compile(
    r"policy_gradient_loss|gradient_penalty|gradient_steps|absent_gradients", re.IGNORECASE
)
_FIGURES = ("mean", "std", "min", "max", "zeros", "nonfinite", "absent", "clip_share")
_GROUP = re.compile(
    r"(summarize_)?(grad(ient)?s?|values?|variables?|vars|weights|parameters)(_norms?)?|update"
)
_ENDING = re.compile(r"[._]?(grad(ient)?|value)?([._]norm)?([._]before_clip)?$")


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that a series says."""

    what: str  # non-finite | vanishing | exploding | zero-gradient | stalled | absent
    tag: str
    text: str
    step: int = 0


def remarks(curves: Mapping[str, Curve]) -> list[Remark]:
    """Everything that is worth a look in one run."""
    found = [remark for curve in curves.values() for remark in _about(curve)]
    return [*found, *_without_gradient(curves)]


def is_gradient(tag: str) -> bool:
    """Does this series tell of gradients?"""
    return bool(_GRADIENT.search(tag.replace("_", " "))) and not _NOT_GRADIENT.search(tag)


def is_loss(tag: str) -> bool:
    """Does this series tell of a loss?"""
    return bool(_LOSS.search(tag))


def _about(curve: Curve) -> Iterator[Remark]:
    gradient, loss = is_gradient(curve.tag), is_loss(curve.tag)
    name = curve.tag.rpartition("/")[2]
    if name == "nonfinite":
        bad = [s for s, v in zip(curve.steps, curve.values, strict=True) if v > 0]
        if bad:
            yield Remark("non-finite", curve.tag, f"NaN or Inf from step {bad[0]} on", bad[0])
        return
    if name == "absent":
        gone = [s for s, v in zip(curve.steps, curve.values, strict=True) if v > 0]
        if gone:
            yield Remark("absent", curve.tag, _how_often(gone, curve), gone[0])
        return
    if not gradient and not loss:
        return
    odd = [s for s, v in zip(curve.steps, curve.values, strict=True) if not math.isfinite(v)]
    if odd and name not in _FIGURES:
        yield Remark("non-finite", curve.tag, f"NaN or Inf at step {odd[0]}, {len(odd)} times in all", odd[0])
    numbers = [v for v in curve.values if math.isfinite(v)]
    if gradient and name not in _FIGURES:
        yield from _norms(curve, numbers)
    elif loss and len(numbers) >= ENOUGH:
        yield from _losses(curve, numbers)


def _how_often(gone: Sequence[int], curve: Curve) -> str:
    return "no gradient at all" if len(gone) == len(curve.steps) else f"no gradient from step {gone[0]} on"


def _norms(curve: Curve, numbers: Sequence[float]) -> Iterator[Remark]:
    sizes = [abs(n) for n in numbers]
    if sizes and not any(sizes):
        yield Remark("zero-gradient", curve.tag, f"exactly zero in all {len(sizes)} points", curve.steps[0])
        return
    if len(sizes) < ENOUGH:
        return
    first, last = ends(sizes)
    step = curve.steps[-len(sizes) // 4]
    if last < NOTHING and first < NOTHING:
        yield Remark("vanishing", curve.tag, f"is {last:.2g} from the beginning on", curve.steps[0])
    elif has_fallen(first, last) or last < NOTHING:
        yield Remark("vanishing", curve.tag, f"from {first:.2g} down to {last:.2g}", step)
    elif has_exploded(first, last):
        yield Remark("exploding", curve.tag, f"from {first:.2g} up to {last:.2g}", step)


def _losses(curve: Curve, numbers: Sequence[float]) -> Iterator[Remark]:
    sizes = [abs(n) for n in numbers]
    first, last = ends(sizes)
    half = numbers[len(numbers) // 2 :]
    if has_grown(first, last):
        yield Remark("exploding", curve.tag, f"from {first:.2g} up to {last:.2g}", curve.steps[-1])
    elif max(half) == min(half) != 0:  # a term that is not used is zero
        since = curve.steps[len(curve.steps) // 2]
        yield Remark("stalled", curve.tag, f"is {half[0]:.4g} and does not change since step {since}", since)


def _without_gradient(curves: Mapping[str, Curve]) -> Iterator[Remark]:
    """Variables whose values are written and whose gradients are not, while others have both."""
    gradients = {_bare(tag): curve for tag, curve in curves.items() if is_gradient(tag)}
    if not gradients:
        return
    end = max(curve.steps[-1] for curve in gradients.values())
    for name, curve in gradients.items():
        seen = [c for tag, c in curves.items() if is_gradient(tag) and _bare(tag) == name]
        last = max(c.steps[-1] for c in seen)
        if end > 0 and last < end / 2 and len(curve.steps) >= 2:
            yield Remark("absent", curve.tag, f"no gradient after step {last}; others go on to {end}", last)
    told = set()
    for tag in curves:
        name = _bare(tag)
        if _is_value(tag) and name not in gradients and name not in told:
            told.add(name)
            yield Remark("absent", tag, "its value is written, its gradient never is")


def _is_value(tag: str) -> bool:
    return bool(
        re.search(r"(_value(_norm)?$)|(^|/)(variables?|vars|weights|parameters)(/|$)", tag, re.IGNORECASE)
    )


def _bare(tag: str) -> str:
    """The variable that a tag is about: the same for its gradient and for its value."""
    parts = [part for part in tag.lower().split("/") if part not in _FIGURES]
    kept = [part for part in parts if not _GROUP.fullmatch(part)]
    return _ENDING.sub("", "/".join(kept))
