"""Faulty scripts from everywhere: labelled ones, reproductions, broken agents, mutants; each with its healthy twin.

``fixes.py`` goes through them. A script is known by a short name that is the same in every run.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from whygrad.zoo import catalogue

ROOT = Path(__file__).resolve().parents[1]
WORDS = {"torch": "import torch", "tensorflow": "import tensorflow"}


@dataclass(frozen=True, slots=True)
class Faulty:
    """A script with a fault, and what it was before somebody made it."""

    name: str
    path: Path
    args: tuple[str, ...] = ()
    twin: Path | None = None


def labelled(folder: Path, framework: str) -> Iterator[Faulty]:
    """What ``FOLDER/labels.json`` calls faulty; without labels, every script of the framework."""
    labels, corpus = folder / "labels.json", "-".join(folder.resolve().parts[-2:])
    if not labels.exists():
        for path in sorted(folder.rglob("*.py")):
            if WORDS[framework] in path.read_text():
                yield Faulty(f"{corpus}/{path.name}", path.resolve())
        return
    for label in json.loads(labels.read_text()):
        if label["framework"] == framework and not label["healthy"]:
            path = (folder / label["file"]).resolve()
            twin = Path(str(path).replace("/bad/", "/good/"))
            has_twin = twin != path and twin.exists()
            yield Faulty(f"{corpus}/{label['file']}", path, twin=twin if has_twin else None)


def broken_agents(framework: str, into: Path) -> Iterator[Faulty]:
    """The bugged twins of our agents; those that choose Keras 2 need a process of their own and are left out."""
    for agent in catalogue.agents().values():
        if WORDS[framework] not in agent.text or "tf_agents" in agent.text:
            continue
        for rule, broken in agent.breaks.items():
            path = into / f"{agent.name}_{rule.replace('-', '_')}.py"
            path.write_text(broken.apply(agent.text)[0])
            yield Faulty(f"agents/{path.stem}", path, broken.args, agent.path)


def mutants(framework: str, into: Path, count: int, seed: int) -> Iterator[Faulty]:
    """A sample of the mutants. Not all of them are faulty: what is found is what counts."""
    import mutants.operators  # noqa: F401
    from mutants.sampling import selected

    originals, drawn = selected(framework, ("programs",), count, seed)
    known = {program.name: program for program in originals}
    for mutant in drawn:
        path, original = into / f"{mutant.name}.py", known[mutant.program]
        path.write_text(mutant.text)
        yield Faulty(f"mutants/{mutant.name}", path, original.argv, original.path)


def sample(scripts: Sequence[Faulty], count: int | None, seed: int) -> list[Faulty]:
    """So many of them, by lot, in their order; all of them without a number."""
    if count is None or count >= len(scripts):
        return list(scripts)
    chosen = {*random.Random(seed).sample(range(len(scripts)), count)}
    return [script for place, script in enumerate(scripts) if place in chosen]
