"""Runs a script over a library without us and under ``whygrad run``, and tells what was said.

Each script prints a checksum of its weights, so that both runs can be compared bit by bit. No framework is imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LABELS: list[dict[str, Any]] = json.loads((HERE / "labels.json").read_text())
SECONDS = 600
QUIET = {
    "OMP_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True)
class Measured:
    """What one script gave."""

    plain: str  # the line with the checksum
    watched: str
    report: dict[str, Any]

    @property
    def equal(self) -> bool:
        """Are the weights the same to the bit, with us and without?"""
        return self.plain == self.watched != ""

    @property
    def silent(self) -> bool:
        """Is it called healthy, with nothing to add?"""
        return self.report["verdict"] == "healthy"

    def found(self, label: dict[str, Any]) -> bool:
        """Is the mistake among the errors and warnings?"""
        return any(f["rule"] in label["rule"] for f in self.report["findings"])

    def at_the_line(self, label: dict[str, Any]) -> bool:
        """Is the user's line in a finding, as its place or on the way?"""
        for finding in self.report["findings"]:
            places = [finding["site"] or {}, *finding["chain"]]
            own = [p for p in places if p.get("file") == self.report["script"]]
            if finding["rule"] in label["rule"] and any(p["line"] in label["line"] for p in own):
                return True
        return False


def missing(label: dict[str, Any]) -> list[str]:
    """The libraries that it needs and that are not here."""
    return [name for name in label["needs"] if find_spec(name) is None]


def measure(script: Path, scratch: Path) -> Measured:
    """Both runs of one script, in an empty folder."""
    scratch.mkdir(parents=True, exist_ok=True)
    plain = _run([str(script)], scratch)
    watched = _run(["-m", "whygrad", "run", "--out", str(scratch / "report"), str(script)], scratch)
    return Measured(plain, watched, json.loads((scratch / "report" / "report.json").read_text()))


def _run(command: list[str], scratch: Path) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=scratch,
        env={**os.environ, **QUIET},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("weights ")]
    if not lines:
        raise RuntimeError(f"{' '.join(command)} printed no weights:\n{done.stderr[-2000:]}")
    return lines[0]
