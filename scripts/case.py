"""Runs one labelled script of tests/cases or tests/corpus, and says whether whygrad says what its label says.

python scripts/case.py NAME            a part of the path will do: detached_ddpg_actor, torch/bad/frozen_head
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.labelled import QUIET, troubles  # noqa: E402

FOLDERS = ("tests/cases", "tests/corpus")


def labels() -> dict[str, dict[str, Any]]:
    """The label of every script, by its path in the repository."""
    return {
        f"{folder}/{label['file']}": label
        for folder in FOLDERS
        for label in json.loads((ROOT / folder / "labels.json").read_text())
    }


def named(name: str) -> list[str]:
    """The scripts that a name may mean: those that end with it, else those in whose path it is.

    A script whose fault was taken away has the same name as its bad twin: the bad one is meant.
    """
    ending = [
        path for path in labels() if f"/{path}".removesuffix(".py").endswith(f"/{name.removesuffix('.py')}")
    ]
    found = ending or [path for path in labels() if name in path]
    return [path for path in found if path.replace("/good/", "/bad/") not in set(found) - {path}]


def expected(label: dict[str, Any]) -> str:
    """The label in words."""
    if label["healthy"]:
        return "healthy"
    also = f" (or {', '.join(label['rule_alt'])})" if label["rule_alt"] else ""
    return f"{label['rule']}{also} at line {' or '.join(map(str, (*label['line'], *label['line_alt'])))}"


def run(path: str) -> list[str]:
    """Run it as a user would, and give what is not as labelled."""
    label = labels()[path]
    print(f"$ whygrad run {path}    # labelled: {expected(label)}", flush=True)
    out = ROOT / "runs" / Path(path).with_suffix("")
    (out / "report.json").unlink(missing_ok=True)
    command = [sys.executable, "-m", "whygrad", "run", "--out", str(out), str(ROOT / path)]
    with tempfile.TemporaryDirectory() as scratch:  # some write files
        done = subprocess.run(command, cwd=scratch, env={**os.environ, **QUIET})
    found = json.loads((out / "report.json").read_text()) if (out / "report.json").exists() else {}
    return list(troubles(label, done.returncode, found, "see above"))


def main(name: str) -> int:
    """Exit code 0: as labelled. 1: not so. 2: which one?"""
    found = named(name) if name else []
    if len(found) != 1:
        print("\n".join(found[:40]), file=sys.stderr)
        which = (
            f"{len(found)} scripts have {name!r} in their path: name one"
            if name
            else "name a script: NAME=..."
        )
        print(which, file=sys.stderr)
        return 2
    wrong = run(found[0])
    print("\n".join(f"NOT AS LABELLED: {trouble}" for trouble in wrong) or "as labelled")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
