"""An exception of ours, wherever it is raised: the program does not notice, and the report says what was lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SWEEP = Path(__file__).parent / "sweep.py"
QUIET = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


def swept(folder: Path, framework: str, *options: str) -> dict[str, list[str]]:
    """What was wrong after a fault in each of the functions."""
    results = folder / "results.json"
    command = [sys.executable, SWEEP, framework, results, *options]
    done = subprocess.run(
        command, env={**os.environ, **QUIET}, capture_output=True, text=True, cwd=folder, timeout=3600
    )
    assert results.exists(), done.stdout[-1000:] + done.stderr[-2000:]
    return json.loads(results.read_text())


def wrong(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {place: troubles for place, troubles in found.items() if troubles}


@pytest.mark.parametrize(
    ("framework", "many"),
    [
        pytest.param("torch", 10, marks=pytest.mark.torch),
        pytest.param("torch", 40, marks=[pytest.mark.torch, pytest.mark.long]),
        pytest.param("tensorflow", 12, marks=[pytest.mark.tensorflow, pytest.mark.long]),
    ],
)
def test_a_fault_of_ours_is_not_the_programs(framework: str, many: int, tmp_path: Path):
    found = swept(tmp_path, framework, f"named{many}")
    assert len(found) > 0.8 * many
    assert wrong(found) == {}


@pytest.mark.long
@pytest.mark.parametrize("when", ["--late", "--bad"])
@pytest.mark.parametrize(("framework", "many"), [("torch", 40), ("tensorflow", 12)])
def test_a_fault_late_or_at_a_bad_end(framework: str, many: int, when: str, tmp_path: Path):
    """The same functions; ``python tests/faults/sweep.py torch results.json`` goes through all functions, for an hour."""
    assert wrong(swept(tmp_path, framework, f"named{many}", when)) == {}
