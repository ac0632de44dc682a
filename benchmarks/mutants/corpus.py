"""The healthy programs that mutants are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mutants.source import Source

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
AGENTS = ROOT / "src" / "whygrad" / "zoo" / "agents"
SHORT = ["--eval-episodes", "0", "--steps"]
ARGUMENTS = {
    "dqn": [*SHORT, "2000", "--gradient-steps", "1", "--train-every", "8"],
    "ddpg": [*SHORT, "1200"],
    "ppo": [*SHORT, "2000"],
    "reinforce": [*SHORT, "3000"],
    "dqn_keras": [*SHORT, "1500"],
}


@dataclass(frozen=True)
class Program:
    """A healthy script and what it is run with."""

    name: str
    path: Path
    framework: str
    kind: str
    argv: tuple[str, ...] = ()

    @cached_property
    def source(self) -> Source:
        """Its text."""
        return Source(self.path.read_text())


def programs(kinds: tuple[str, ...] = ("programs", "agents", "cases", "corpus")) -> list[Program]:
    """All healthy programs of these kinds, in a fixed order."""
    found = {"programs": _own, "agents": _agents, "cases": _labelled, "corpus": _labelled}
    return [program for kind in kinds for program in found[kind](kind)]


def _own(kind: str) -> Iterator[Program]:
    for path in sorted((HERE / "programs").glob("*.py")):
        framework = "torch" if path.stem.startswith("torch") else "tensorflow"
        yield Program(path.stem, path, framework, kind)


def _agents(kind: str) -> Iterator[Program]:
    for name, arguments in ARGUMENTS.items():
        path = AGENTS / f"{name}.py"
        yield Program(f"agent_{name}", path, Source(path.read_text()).framework, kind, tuple(arguments))


def _labelled(kind: str) -> Iterator[Program]:
    folder = ROOT / "tests" / kind
    for label in json.loads((folder / "labels.json").read_text()):
        path = folder / label["file"]
        legacy = "TF_USE_LEGACY_KERAS" in path.read_text()  # it needs a process of its own
        if label["healthy"] and label["exit_code"] == 0 and not legacy:
            name = f"{kind}_{label['framework'][:2]}_{path.stem}"
            yield Program(name, path, label["framework"], kind)
