"""Folders of labelled scripts, run once per framework, and what is not as a label says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORKED = Path(__file__).parent / "forked.py"
QUIET = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


def labels_in(folder: Path, framework: str) -> list[dict[str, Any]]:
    """The labels of one framework's scripts."""
    labels = json.loads((folder / "labels.json").read_text())
    return [label for label in labels if label["framework"] == framework]


def run_all(folder: Path, framework: str, scratch: Path) -> dict[str, Any]:
    """What each script gave: exit code, report, output."""
    results = scratch / "results.json"
    command = [sys.executable, FORKED, folder, framework, results]
    subprocess.run(command, check=True, env={**os.environ, **QUIET}, timeout=1500)
    return json.loads(results.read_text())


def troubles(label: dict[str, Any], code: int, report: dict[str, Any], output: str) -> Iterator[str]:
    """What is not as the label says."""
    if not report:
        yield f"no report: {output[-500:]}"
        return
    if code != label["exit_code"]:
        yield f"exit code {code}: {output[-500:]}"
    yield from (note["text"] for note in report["notes"] if note["kind"] == "internal")
    loud = [f for f in report["findings"] if f["severity"] != "note"]
    said = [(f["rule"], f["site"]["line"] if f["site"] else None) for f in loud]
    if label["healthy"]:
        yield from (f"false alarm {rule} at {line}" for rule, line in said)
    elif not any(
        rule in (label["rule"], *label["rule_alt"]) and line in (*label["line"], *label["line_alt"])
        for rule, line in said
    ):
        yield f"expected {label['rule']} at {label['line']}, got {said}"
