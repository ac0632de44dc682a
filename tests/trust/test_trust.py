"""A short form of ``make trust``: programs that are put together by chance, and long trainings in fast motion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.trust.soak import soak

pytestmark = pytest.mark.long
DIFFER = Path(__file__).parent / "differ.py"
QUIET = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize(
    ("framework", "first"),
    [
        pytest.param("torch", 300, marks=pytest.mark.torch),
        pytest.param("tensorflow", 309, marks=pytest.mark.tensorflow),  # 312 and 316 rounded otherwise once
    ],
)
def test_programs_do_the_same_with_us(framework: str, first: int, tmp_path: Path) -> None:
    command = [sys.executable, DIFFER, framework, "8", str(first)]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | QUIET, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == f"{framework}: 8 programs, 2 ways, 0 differences", done.stdout


@pytest.mark.torch
@pytest.mark.parametrize(("kind", "many"), [("updates", 20_000), ("networks", 3_000)])
def test_memory_stays_flat(kind: str, many: int, tmp_path: Path) -> None:
    """What one update leaves is counted, so a leak of two kilobytes shows."""
    found = soak(kind, many, tmp_path)
    assert found.grown * 2**20 / (many * 0.8) < {"updates": 500, "networks": 8000}[kind]
