"""The real TensorFlow.js, installed from npm once and kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

VERSION = "4.22.0"
PREDICT = Path(__file__).with_name("predict.cjs")


def installed() -> Path:
    """The folder in which @tensorflow/tfjs is installed; the test is skipped where node or npm is not."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node and npm are needed to run the real TensorFlow.js")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "whygrad-tests"
    folder = cache / f"tfjs-{VERSION}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=cache))
        (new / "package.json").write_text('{"private": true}')
        command = [
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            f"@tensorflow/tfjs@{VERSION}",
        ]
        subprocess.run(command, cwd=new, check=True, capture_output=True, timeout=600)
        try:
            new.rename(folder)
        except OSError:  # another test was quicker
            shutil.rmtree(new)
    return folder


def predict(folders: list[Path], inputs: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    """What TensorFlow.js gives for the models in these folders."""
    for folder, arrays in zip(folders, inputs, strict=True):
        written = [{"data": a.ravel().tolist(), "shape": a.shape, "dtype": str(a.dtype)} for a in arrays]
        (folder / "inputs.json").write_text(json.dumps(written))
    subprocess.run(["node", PREDICT, *folders], cwd=installed(), check=True, capture_output=True, timeout=600)
    results = []
    for folder in folders:
        answer = json.loads((folder / "outputs.json").read_text())
        assert "error" not in answer, f"{folder.name}: {answer['error']}"
        results.append([np.array(o["data"], np.float32).reshape(o["shape"]) for o in answer["outputs"]])
    return results
