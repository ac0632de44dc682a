"""``make quick`` is quick because a test that imports a framework fails in its folders; seen failing here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
MARKERS = "[pytest]\nmarkers =\n    torch\n    tensorflow\n"


@pytest.fixture
def run(tmp_path):
    """Writes a test and runs it, in a repository that has our conftest.py and frameworks that are quick to import."""

    def run_it(file: str, source: str) -> str:
        for name in ("torch.py", "tensorflow.py"):
            (tmp_path / name).touch()
        (tmp_path / "pytest.ini").write_text(MARKERS)
        path = tmp_path / "tests" / file
        path.parent.mkdir(parents=True)
        shutil.copy(CONFTEST, tmp_path / "tests")
        path.write_text(source)
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")} | {
            "PYTHONPATH": str(tmp_path)
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "--import-mode=importlib", "tests"]
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        return done.stdout + done.stderr

    return run_it


INSIDE = "def test_it():\n    import torch\n"
FIXTURE = "import pytest\n@pytest.fixture\ndef net():\n    import torch\ndef test_it(net): ...\n"
ABOVE = "import tensorflow\ndef test_it(): ...\n"
MARKED = "import pytest\n@pytest.mark.torch\ndef test_it():\n    import torch\n"


@pytest.mark.parametrize("source", [INSIDE, FIXTURE, ABOVE], ids=["inside", "fixture", "above"])
@pytest.mark.parametrize("folder", ["unit", "unit/rules", "architecture"])
def test_a_framework_in_a_light_folder_fails(run, folder, source):
    said = run(f"{folder}/test_new.py", source)
    assert f"tests/{folder}/test_new.py" in said
    assert (
        f"imports {'tensorflow' if source is ABOVE else 'torch'}: mark it so, or put it into a folder" in said
    )
    assert "1 error" in said or "1 failed" in said


@pytest.mark.parametrize(
    "file, source",
    [
        ("frameworks/test_new.py", INSIDE),
        ("frameworks/test_new.py", ABOVE),
        ("unit/test_new.py", MARKED),
        ("unit/test_new.py", "def test_it(): ...\n"),
    ],
)
def test_anywhere_else_and_marked_it_does_not(run, file, source):
    assert "1 passed" in run(file, source)
