"""The rooms of the house: the layers that pyproject declares are kept, and the check can fail."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINT = Path(sysconfig.get_path("scripts")) / "lint-imports"


def lint(folder: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter with the contracts of this repository over the sources in ``path``."""
    env = os.environ | {"PYTHONPATH": str(path), "COLUMNS": "200"}
    command = [str(LINT), "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def test_imports_go_downward_only(tmp_path):
    done = lint(tmp_path, ROOT / "src")
    assert done.returncode == 0, done.stdout


def test_the_contracts_can_be_broken(tmp_path):
    for file in (ROOT / "src" / "whygrad").rglob("*.py"):
        copy = tmp_path / file.relative_to(ROOT / "src")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(file.read_text())
    model = tmp_path / "whygrad" / "model" / "site.py"
    model.write_text(model.read_text() + "\nimport torch\nimport whygrad.cli.main\n")
    done = lint(tmp_path, tmp_path)
    assert done.returncode == 1
    assert "whygrad.model.site -> torch" in done.stdout
    assert "whygrad.model.site -> whygrad.cli.main" in done.stdout
