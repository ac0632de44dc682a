"""The same faulty scripts under what people use now, side by side.

    python benchmarks/peers.py --framework torch --sample 60 --seed 7 --torchfix DIR

Scripts: the faulty ones of ``tests/cases`` and a sample of mutants (``mutants.py``). DIR is a folder into which
TorchFix was put by ``pip install --target DIR torchfix``.

    says anything     the tool stops the script, or prints a finding about it
    names the line    a line that counts as right is among those that it names

A tool is given credit for any line of the script in its output, a whole traceback included; whygrad only for a
finding of the right rule on such a line. TorchLens and TrainCheck are not here: the one shows a model's forward
pass to code that calls it, the other learns what is usual from runs that are known to be right; neither takes a
script as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mutants.operators  # noqa: F401
from mutants.corpus import ROOT, programs
from mutants.judging import LOUD, judge
from mutants.registry import OPERATORS
from mutants.running import Cache, Runner
from mutants.sampling import choose, made_of


@dataclass(frozen=True)
class Faulty:
    """A script with a known fault."""

    name: str
    kind: str
    path: Path
    framework: str
    rules: tuple[str, ...]
    lines: frozenset[int]
    argv: tuple[str, ...] = ()


Answer = tuple[bool, bool]  # says anything, names the line


def cases(framework: str) -> Iterator[Faulty]:
    """Those of ``tests/cases``."""
    folder = ROOT / "tests" / "cases"
    for label in json.loads((folder / "labels.json").read_text()):
        path = folder / label["file"]
        if (
            label["framework"] == framework
            and not label["healthy"]
            and "LEGACY_KERAS" not in path.read_text()
        ):
            lines = frozenset([*label["line"], *label["line_alt"]])
            yield Faulty(path.stem, "cases", path, framework, (label["rule"], *label["rule_alt"]), lines)


def drawn(arguments: argparse.Namespace, runner: Runner) -> Iterator[Faulty]:
    """Mutants that are really faulty."""

    originals = {p.name: p for p in programs(("programs",)) if p.framework == arguments.framework}
    sample = choose(made_of(list(originals.values()), list(OPERATORS)), arguments.sample, arguments.seed)
    for mutant in sample:
        original = originals[mutant.program]
        verdict = judge(mutant, original, runner, Cache(arguments.cache), None)
        if verdict.state == "faulty":
            script = runner.written(mutant.name, mutant.text)
            yield Faulty(
                mutant.name, "mutants", script, mutant.framework, mutant.rules, mutant.lines, original.argv
            )


def by_running(how: str, runner: Runner) -> Callable[[Faulty], Answer]:
    """Plain python, or with the framework's own checks: whether it stops, and which lines it prints."""

    def look(script: Faulty) -> Answer:
        answer = runner.run(script.framework, script.path, script.argv, how)
        stopped = bool(answer["report"].get("error"))
        named = re.findall(rf'{re.escape(script.path.name)}", line (\d+)', answer["output"])
        return stopped, stopped and any(int(line) in script.lines for line in named)

    return look


def by_whygrad(runner: Runner) -> Callable[[Faulty], Answer]:
    """Ours: findings, and the right rule on the right line."""

    def look(script: Faulty) -> Answer:
        report = runner.run(script.framework, script.path, script.argv, "run")["report"]
        loud = [f for f in report.get("findings", ()) if f["severity"] in LOUD]
        right = [f for f in loud if f["rule"] in script.rules and f["site"]]
        return bool(loud), any(f["site"]["line"] in script.lines for f in right)

    return look


def by_torchfix(folder: Path) -> Callable[[Faulty], Answer]:
    """TorchFix, all of its checks."""

    def look(script: Faulty) -> Answer:
        code = "import torchfix.__main__ as m; m.main()"
        command = [sys.executable, "-c", code, "--select", "ALL", str(script.path)]
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        named = [int(line) for line in re.findall(r"\.py:(\d+):\d+: TOR", done.stdout)]
        return bool(named), any(line in script.lines for line in named)

    return look


def tools(arguments: argparse.Namespace, runner: Runner) -> dict[str, Callable[[Faulty], Answer]]:
    """Everything that can be asked here."""
    own = "anomaly mode" if arguments.framework == "torch" else "enable_check_numerics"
    found = {"plain python": by_running("probe", runner), own: by_running("strict", runner)}
    if arguments.torchfix:
        found["TorchFix"] = by_torchfix(arguments.torchfix)
    return {**found, "whygrad run": by_whygrad(runner)}


def table(answers: dict[tuple[str, str], list[Answer]]) -> str:
    """One row for each tool and kind of script."""
    rows = ["| scripts | tool | says anything | names the line |", "|---|---|---|---|"]
    for (kind, tool), seen in sorted(answers.items()):
        alarm, line = (sum(answer[i] for answer in seen) for i in (0, 1))
        rows.append(f"| {len(seen)} {kind} | {tool} | {alarm} | {line} |")
    return "\n".join(rows)


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--framework", choices=("torch", "tensorflow"), default="torch")
    parser.add_argument("--sample", type=int, default=60, metavar="N", help="mutants to draw (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="draws them")
    parser.add_argument("--no-cases", action="store_true", help="mutants only")
    parser.add_argument("--torchfix", type=Path, metavar="DIR", help="where TorchFix was put")
    parser.add_argument("--seconds", type=float, default=120, help="for one script (default 120)")
    parser.add_argument("--cache", type=Path, help="what the probe saw, as of mutants.py")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Draw, ask every tool, show."""
    arguments = parse_arguments(argv)
    runner = Runner({arguments.framework}, 1, arguments.seconds)
    answers: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    try:
        asked = tools(arguments, runner)
        scripts = [] if arguments.no_cases else list(cases(arguments.framework))
        for script in [*scripts, *drawn(arguments, runner)]:
            for tool, look in asked.items():
                answers[script.kind, tool].append(look(script))
            print(script.name, file=sys.stderr, flush=True)
    finally:
        runner.close()
    print(table(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
