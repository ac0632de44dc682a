"""Scripts in the many styles that people write: each fault is named, each healthy program is left in peace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

HERE = Path(__file__).parent
LABELS = {label["file"]: label for label in json.loads((HERE / "labels.json").read_text())}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    file = tmp_path_factory.mktemp("corpus") / "results.json"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, HERE / "forked.py", file], check=True, env=environment, timeout=1200)
    return json.loads(file.read_text())


def test_the_whole_corpus(results):
    wrong = [f"{file}: {trouble}" for file in LABELS for trouble in troubles(LABELS[file], *results[file])]
    assert wrong == []


def troubles(label, code, report):
    """What is not as the label says."""
    if not report:
        yield "no report"
        return
    if code != label["exit_code"]:
        yield f"exit code {code}"
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
