"""Compares what whygrad says of a mutant with what was done to it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mutants import probe
from mutants.corpus import Program
from mutants.registry import OPERATORS, Mutant
from mutants.running import Cache, Runner

LOUD = ("error", "warning")
OF_GRADIENTS = re.compile(
    r"grad|backward|inplace|in-place|trainable|tape|parameter list|nan|finite|"
    r"does not support|symbolic|variable|optimizer",
    re.I,
)


@dataclass(frozen=True)
class Verdict:
    """One mutant (or, without an operator, one healthy program)."""

    program: str
    operator: str
    framework: str
    state: str  # faulty, equivalent, broken, original, no report
    expected: str = ""
    lines: tuple[int, ...] = ()
    said: tuple[str, ...] = ()
    alarm: bool = False
    rule: bool = False
    line: bool = False
    healthy: bool = False
    crashed: str = ""
    name: str = ""

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)


def summary_of(program: Program, runner: Runner, cache: Cache) -> dict[str, Any]:
    """What the probe saw of a healthy program; with ``error`` when it is not fit for this."""
    key = (program.source.text, program.argv, Path(probe.__file__).read_text())
    found = cache.get(*key)
    if found is None:
        runs = [runner.run(program.framework, program.path, program.argv, "probe") for _ in range(2)]
        one, two = (run["report"] for run in runs)
        if not one:
            return {"error": "it took too long, or ended without a summary"}
        if not one["error"] and not same(one, two):
            one = {**one, "error": "no two runs of it are the same"}
        found = cache.put(one, *key)
    return found


def judge(mutant: Mutant, original: Program, runner: Runner, cache: Cache, how: str | None) -> Verdict:
    """Run a mutant plainly; if that shows that it is faulty, run it under whygrad (unless ``how`` is None)."""
    base = {"program": mutant.program, "operator": mutant.operator, "framework": mutant.framework}
    base |= {"expected": "/".join(mutant.rules), "lines": tuple(sorted(mutant.lines)), "name": mutant.name}
    script = runner.written(mutant.name, mutant.text)
    key = (mutant.text, original.argv, Path(probe.__file__).read_text())
    plain = cache.get(*key) or runner.run(mutant.framework, script, original.argv, "probe")["report"]
    if plain:
        cache.put(plain, *key)
    state = _state(mutant.operator, plain, summary_of(original, runner, cache))
    if state != "faulty":
        return Verdict(**base, state=state, crashed=plain.get("error", "timeout") if plain else "timeout")
    if how is None:
        return Verdict(**base, state=state, crashed=plain["error"])
    answer = runner.run(mutant.framework, script, original.argv, how)
    if not answer["report"]:
        return Verdict(**base, state="no report", crashed=answer["output"][-300:])
    return _compared(base, mutant, script, answer["report"], plain["error"])


def _state(operator: str, plain: dict[str, Any], original: dict[str, Any]) -> str:
    if not plain:
        return "broken"  # it took too long: nothing can be said
    if plain["error"] and not OF_GRADIENTS.search(plain["error"]):
        return "broken"  # a mutation that a person would see at once
    if re.match("NameError|SyntaxError|AttributeError|TypeError|UnboundLocal", plain["error"]):
        return "broken"
    harmless = OPERATORS[operator].crashes and not plain["error"]
    return "equivalent" if harmless or same(plain, original) else "faulty"


def same(one: dict[str, Any], other: dict[str, Any], tolerance: float = 1e-6) -> bool:
    """Whether two summaries are of the same training: the weights that both know end alike.

    One may know more of them: an optimizer that holds what it never trains shows it to the probe.
    """
    if one.get("error") != other.get("error"):
        return False
    fewer, more = sorted((one.get("weights", []), other.get("weights", [])), key=len)
    rest = iter(more)
    return all(any(_alike(mine, its, tolerance) for its in rest) for mine in fewer)


def _alike(one: list[float], other: list[float], tolerance: float) -> bool:
    return len(one) == len(other) and bool(np.allclose(one, other, rtol=tolerance, atol=tolerance))


def _compared(
    base: dict[str, Any], mutant: Mutant, script: Path, report: dict[str, Any], crashed: str
) -> Verdict:
    loud = [f for f in report["findings"] if f["severity"] in LOUD]
    right = [f for f in loud if f["rule"] in mutant.rules]
    return Verdict(
        **base,
        state="faulty",
        said=tuple(said(f) for f in loud),
        alarm=bool(loud),
        rule=bool(right),
        line=any(_line_in(f, script) in mutant.lines for f in right),
        healthy=not loud and bool(report.get("healthy")),
        crashed=crashed[:120],
    )


def _line_in(finding: dict[str, Any], script: Path) -> int | None:
    site = finding.get("site") or {}
    return site.get("line") if Path(site.get("file") or "").name == script.name else None


def said(finding: dict[str, Any]) -> str:
    """A finding in a word."""
    site = finding.get("site") or {}
    return f"{finding['rule']}:{site.get('line', '?')}"


def judge_original(program: Program, runner: Runner, how: str) -> Verdict:
    """A healthy program under whygrad: everything loud is a false alarm."""
    answer = runner.run(program.framework, program.path, program.argv, how)
    report = answer["report"]
    base = {"program": program.name, "operator": "", "framework": program.framework}
    if not report:
        return Verdict(**base, state="no report", crashed=answer["output"][-300:])
    loud = [f for f in report["findings"] if f["severity"] in LOUD]
    return Verdict(**base, state="original", said=tuple(said(f) for f in loud), alarm=bool(loud))
