"""Runs a sample: mutants, and the healthy programs that they are made of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants.corpus import Program
from mutants.judging import Verdict, judge, judge_original, summary_of
from mutants.registry import Mutant
from mutants.running import Cache, Runner


def measure(
    mutants: Sequence[Mutant],
    originals: Sequence[Program],
    runner: Runner,
    kept: Path | None,
    how: str = "run",
    jobs: int = 1,
    show: Callable[[Verdict], None] = lambda verdict: None,
) -> list[Verdict]:
    """Judge all of them."""
    cache = Cache(kept)
    fit = {program.name: program for program in originals if _fit(program, runner, cache)}

    def look(item: Mutant | Program) -> Verdict:
        if isinstance(item, Program):
            verdict = judge_original(item, runner, how)
        else:
            verdict = judge(item, fit[item.program], runner, cache, how)
        show(verdict)
        return verdict

    work = [*fit.values(), *(mutant for mutant in mutants if mutant.program in fit)]
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(look, work))


def _fit(program: Program, runner: Runner, cache: Cache) -> bool:
    """Whether a program can be compared with its mutants; says so if not."""
    error = summary_of(program, runner, cache).get("error")
    if error:
        print(f"left out: {program.name}: {error[:100]}", file=sys.stderr)
    return not error
