"""``check(A, B)``: everything that is to be known about two implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whygrad.zoo.parity import adam, comparing, sides
from whygrad.zoo.parity.case import Case, Outcome, renamed
from whygrad.zoo.parity.comparing import Difference, Explanation
from whygrad.zoo.parity.setup import Setup
from whygrad.zoo.tfjs.network import ModelError


@dataclass(frozen=True)
class AdamResult:
    """How far an optimizer's steps are from the reference's, and what it is instead."""

    largest: float
    equal: bool
    instead: adam.Adam | None = None
    own: bool = False  # the script's own optimizer, or ours


@dataclass(frozen=True)
class Result:
    """What was compared, and what came out."""

    reference: str
    other: str
    batch: int
    names: Mapping[tuple[str, str], str]
    losses: Mapping[str, tuple[float, float]]
    rows: tuple[Difference, ...]
    explanation: Explanation | None
    adam: AdamResult | None
    tolerance: float
    outputs: float | None = None

    @property
    def equal(self) -> bool:
        """Whether all variables agree."""
        return all(row.equal for row in self.rows) and (self.adam is None or self.adam.equal)


def check(a: str, b: str, tolerance: float = comparing.TOLERANCE) -> Result:
    """Compare B with A."""
    case = sides.case_of(a)
    if case is not None:
        script = None if b in ("keras", "torch") else _script(b)
        return _compare(case, sides.side(case, b, script, True), b, script, tolerance)
    if sides.case_of(b) is not None:
        raise ModelError(f"put the vectors first: whygrad parity {b} {a}")
    if b in ("keras", "torch"):
        first, second = _script_or_none(a), None
    else:
        first, second = _script_or_none(a), _script_or_none(b)
    model = sides.model_of(a, first) or (sides.model_of(b, second) if b not in ("keras", "torch") else None)
    if model is None:
        raise ModelError(
            "one of the two must be vectors, a TensorFlow.js model, or a plain Keras model: "
            "the graph of a torch module cannot be read"
        )
    losses = any(script is not None and script.loss for script in (first, second))
    case = sides.made_case(model, a, losses)
    left = sides.side(case, a, first, first is not None and first.path.suffix == ".py")
    reference = {mode: left.outcome(mode) for mode in left.modes}
    case = replace(case, reference=reference)
    right_case = case if second or b in ("keras", "torch") else replace(case, online=_same(model, b))
    fill = second is None or second.path.suffix == ".py"
    return _compare(right_case, sides.side(right_case, b, second, fill), b, second, tolerance)


def _same(model: Any, b: str) -> Any:
    other = sides.model_of(b, None)
    assert other is not None
    return renamed(model, other)


def _script(text: str) -> Any:
    script = sides.script_of(text)
    if script is None:
        raise ModelError(f"{text} is neither keras, torch, a script.py:make_model nor a .keras file")
    return script


def _script_or_none(text: str) -> Any:
    return sides.script_of(text)


def _compare(case: Case, side: Any, name: str, script: Any, tolerance: float) -> Result:
    start = case.online.weights
    modes = [mode for mode in case.reference if mode in side.modes]
    if not modes:
        raise ModelError("the two have no mode in common: give your loss a fourth parameter, training")
    theirs = {mode: side.outcome(mode) for mode in modes}
    rows: list[Difference] = []
    for mode in modes:
        rows += comparing.differences(mode, case.reference[mode], theirs[mode], start, tolerance)
    wrong = {row.what for row in rows if not row.equal}
    explanation = None
    if wrong:
        explanation = comparing.explain(
            theirs, start, lambda s, m: _run(case, s, m), bool(wrong - {"moving"})
        )
    return Result(
        reference=case.name,
        other=name,
        batch=len(case.batch.states),
        names=case.online.manifest_names,
        losses={mode: (case.reference[mode].loss, theirs[mode].loss) for mode in modes},
        rows=tuple(rows),
        explanation=explanation,
        adam=_adam(case, side, script),
        tolerance=tolerance,
    )


def _run(case: Case, setup: Setup, modes: Sequence[str]) -> dict[str, Outcome]:
    side = sides.trial(case, setup)
    return {mode: side.outcome(mode) for mode in modes}


def _adam(case: Case, side: Any, script: Any) -> AdamResult | None:
    """Feed the reference's own gradients to the optimizer; a script's own one is looked at more closely."""
    own = script.make_optimizer if script else None
    if not case.adam or (script and not own):
        return None
    start = side.read()
    after = side.optimize(own, [step.gradients for step in case.adam])
    side.write(start)
    known = [{key: step.weights[key] for key in step.gradients} for step in case.adam]
    off = adam.largest(after, known)
    instead = None
    if own:
        probed, instead = adam.explain(start, lambda gradients: side.optimize(own, gradients))
        side.write(start)
        off = max(off, probed)
    return AdamResult(off, off <= 1e-5, instead, bool(own))
