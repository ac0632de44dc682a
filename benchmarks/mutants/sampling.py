"""Which programs and mutants are run."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

import mutants.operators  # noqa: F401
from mutants.corpus import Program, programs
from mutants.registry import OPERATORS, Mutant, mutants_of


def choose(everything: Sequence[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """A sample in which operators take turns, so that one that fits everywhere does not fill it."""
    draw = random.Random(seed)
    waiting: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in draw.sample(list(everything), len(everything)):
        waiting[mutant.operator].append(mutant)
    order = sorted(waiting)
    chosen: list[Mutant] = []
    while waiting and (count is None or len(chosen) < count):
        draw.shuffle(order)
        for name in [name for name in order if name in waiting]:
            chosen.append(waiting[name].pop())
            if not waiting[name]:
                del waiting[name]
    return chosen if count is None else chosen[:count]


def made_of(chosen: Sequence[Program], names: Sequence[str]) -> list[Mutant]:
    """All mutants of these programs by these operators."""
    return [
        mutant
        for program in chosen
        for name in names
        for mutant in mutants_of(program.name, program.source, OPERATORS[name])
    ]


def selected(
    framework: str | None,
    kinds: tuple[str, ...],
    count: int | None,
    seed: int,
    operators: Sequence[str] | None = None,
    words: Sequence[str] = ("",),
) -> tuple[list[Program], list[Mutant]]:
    """A sample of mutants, and the programs that they are made of; ``words``: what a program's name contains."""
    chosen = [
        program
        for program in programs(kinds)
        if framework in (None, program.framework) and any(word in program.name for word in words)
    ]
    drawn = choose(made_of(chosen, operators or list(OPERATORS)), count, seed)
    used = {mutant.program for mutant in drawn}
    return [program for program in chosen if program.name in used], drawn
