"""How often whygrad names the fault that was put into a healthy program, and its line.

    python benchmarks/mutants.py --sample 100 --seed 7
    python benchmarks/mutants.py --framework torch --operators detach-action,never-synced --kinds programs
    python benchmarks/mutants.py --operators 'later*'

Operators (``mutants/operators``) were written from the catalogue of faults and from what people do wrong, not from
what the rules can see. Each changes a line or two and knows which. A mutant that trains exactly as the original
does, under plain python and a probe, is dropped as equivalent; one that fails for another reason than gradients is
dropped as broken. What is left runs under whygrad. The figures that count are those of a seed that nobody has
looked at.

    alarm            mutants with an error or a warning
    right rule       ... of a rule that names the fault
    right line       ... on a line that counts as right
    called healthy   mutants of which whygrad says that nothing is wrong: the worst that it can do
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mutants.operators  # noqa: F401
from mutants import table
from mutants.judging import Verdict
from mutants.measuring import measure
from mutants.registry import OPERATORS, operators_named
from mutants.running import Runner
from mutants.sampling import selected

KINDS = ("programs", "agents", "cases", "corpus")


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--framework", choices=("torch", "tensorflow"), help="only one of them")
    parser.add_argument("--operators", help="names, or files such as cuts or 'later*', with commas")
    parser.add_argument("--programs", help="only programs whose name contains one of these, with commas")
    parser.add_argument("--kinds", default="programs,agents", help=f"which programs: {','.join(KINDS)}")
    parser.add_argument("--sample", type=int, metavar="N", help="draw N mutants (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="draws the sample")
    parser.add_argument("--jobs", type=int, default=1, help="scripts at the same time (default 1)")
    parser.add_argument("--how", choices=("run", "check"), default="run", help="how whygrad is asked")
    parser.add_argument("--seconds", type=float, default=120, help="for one script (default 120)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a line to FILE for each verdict")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="show such files and end")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the chosen mutants to DIR, too")
    parser.add_argument("--list", action="store_true", help="name the operators and end")
    usual = Path(tempfile.gettempdir(), "whygrad-mutants-cache")
    parser.add_argument("--cache", type=Path, default=usual, help="what the probe saw (default: %(default)s)")
    arguments = parser.parse_args(argv)
    try:
        words = arguments.operators.split(",") if arguments.operators else ["*"]
        arguments.operators = operators_named(words)
    except ValueError as error:
        parser.error(str(error))
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Choose, run, show."""
    arguments = parse_arguments(argv)
    if arguments.table:
        kept = [json.loads(line) for file in arguments.table for line in file.read_text().splitlines()]
        print(table.of([Verdict(**verdict) for verdict in kept]))
        return 0
    if arguments.list:
        chosen = [OPERATORS[name] for name in arguments.operators]
        print("\n".join(f"{o.name:<26} {', '.join(o.rules)}" for o in chosen))
        return 0
    words = arguments.programs.split(",") if arguments.programs else [""]
    kinds = tuple(arguments.kinds.split(","))
    originals, drawn = selected(
        arguments.framework, kinds, arguments.sample, arguments.seed, arguments.operators, words
    )
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        for mutant in drawn:
            (arguments.keep / f"{mutant.name}.py").write_text(mutant.text)
    runner = Runner({program.framework for program in originals}, arguments.jobs, arguments.seconds)

    lines = arguments.json.open("w") if arguments.json else None

    def show(verdict: Verdict) -> None:
        if lines:  # at once: a run that is ended has its figures, too
            print(json.dumps(verdict.as_json()), file=lines, flush=True)
        mark = "right" if verdict.line else "rule" if verdict.rule else "alarm" if verdict.alarm else "-"
        print(f"{verdict.state:<10} {mark:<6} {verdict.name or verdict.program}", file=sys.stderr, flush=True)

    try:
        verdicts = measure(drawn, originals, runner, arguments.cache, arguments.how, arguments.jobs, show)
    finally:
        runner.close()
    print(table.of(verdicts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
