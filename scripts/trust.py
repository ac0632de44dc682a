"""Makes the figures of docs/trust.md.

    python scripts/trust.py [--programs N] [--inputs N] [--faults N] [--updates N] [--networks N] [--seed N]
                            [--only WORD] [--write]

Each row is the last line of a command that anybody can run. ``--write`` puts the rows into the page.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
QUIET = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


def commands(args: argparse.Namespace) -> list[tuple[str, ...]]:
    """What is run, one after the other."""
    results = str(Path(tempfile.gettempdir()) / "whygrad-faults.json")
    return [
        ("tests/trust/differ.py", "torch", str(args.programs), str(args.seed)),
        ("tests/trust/differ.py", "tensorflow", str(args.programs), str(args.seed)),
        ("tests/faults/sweep.py", "torch", results, str(args.faults)),
        ("tests/faults/sweep.py", "tensorflow", results, str(args.faults)),
        ("tests/trust/soak.py", "updates", str(args.updates)),
        ("tests/trust/soak.py", "networks", str(args.networks)),
        ("-m", "tests.strangers.fuzzing", str(args.inputs), str(args.seed)),
    ]


def row(command: tuple[str, ...]) -> str:
    """The command and the last line that it printed."""
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=os.environ | QUIET, text=True, stdout=subprocess.PIPE
    )
    print(done.stdout, end="", flush=True)
    last = (done.stdout.splitlines() or [f"exit code {done.returncode}, nothing printed"])[-1]
    words = [word if "whygrad-faults" not in word else "results.json" for word in command]
    return f"| `python {' '.join(words)}` | {last} |\n"


def table(rows: list[str]) -> str:
    """As it stands in the page."""
    return "".join(["| command | what it says |\n|---|---|\n", *rows])


def written(page: str, rows: list[str]) -> str:
    """The page with these figures."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + table(rows) + END + rest.split(END)[1]


def main() -> None:
    """Run them, and print the table."""
    parser = argparse.ArgumentParser(description="make the figures of docs/trust.md")
    parser.add_argument("--programs", type=int, default=40, help="generated programs in each framework")
    parser.add_argument("--inputs", type=int, default=4000, help="broken files")
    parser.add_argument("--faults", type=int, default=40, help="functions of ours that fail, in each")
    parser.add_argument("--updates", type=int, default=100_000, help="of one network")
    parser.add_argument("--networks", type=int, default=10_000, help="with one update each")
    parser.add_argument("--seed", type=int, default=300)
    parser.add_argument("--only", default="", help="commands that have this word")
    parser.add_argument("--write", action="store_true", help="into docs/trust.md; everything is run then")
    args = parser.parse_args()
    chosen = [c for c in commands(args) if args.write or args.only in " ".join(c)]
    rows = [row(command) for command in chosen]
    print(table(rows), end="")
    if args.write:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


if __name__ == "__main__":
    main()
