"""whygrad over our own labelled scripts: the right rule on the right line, and silence where all is well.

Each script runs in a process of its own, as a user would run it; those of TensorFlow, which takes long to load,
in forks of one. The bad and the good script of a pair are one line apart. ``labels.json`` has the form that
``benchmarks/accuracy.py`` reads.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.labelled import labels_in, run_all, troubles

HERE = Path(__file__).parent
LABELS = json.loads((HERE / "labels.json").read_text())
TORCH = labels_in(HERE, "torch")
BAD = [label for label in TORCH if not label["healthy"]]
GOOD = [label for label in TORCH if label["healthy"]]


def name(label: dict[str, Any]) -> str:
    return Path(label["file"]).stem


def whygrad(
    label: dict[str, Any], cwd: Path
) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[str]]:
    """The findings that are errors or warnings, and the process that made them."""
    report = cwd / "report.json"
    options = ["--quiet", "--json", report, "--out", cwd / "run"]
    done = subprocess.run(
        [sys.executable, "-m", "whygrad", "run", *options, HERE / label["file"]],
        cwd=cwd,
        env={"OMP_NUM_THREADS": "1", **os.environ},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert report.exists(), done.stderr
    findings = json.loads(report.read_text())["findings"]
    return [finding for finding in findings if finding["severity"] in ("error", "warning")], done


def lines_in(script: Path, findings: list[dict[str, Any]], cwd: Path) -> set[int]:
    """The lines of the script that these findings point at."""
    sites = [finding["site"] for finding in findings if finding["site"]]
    return {site["line"] for site in sites if (cwd / site["file"]).resolve() == script.resolve()}


def said(findings: list[dict[str, Any]]) -> str:
    words = [f"{f['rule']} at {f['site'] and f['site']['line']} ({f['title']})" for f in findings]
    return "whygrad said " + ("; ".join(words) or "nothing")


@pytest.mark.torch
@pytest.mark.parametrize("label", BAD, ids=name)
def test_a_fault_is_named_on_its_line(label: dict[str, Any], tmp_path: Path) -> None:
    findings, done = whygrad(label, tmp_path)

    right = [finding for finding in findings if finding["rule"] in (label["rule"], *label["rule_alt"])]
    assert right, said(findings)
    lines = lines_in(HERE / label["file"], right, tmp_path)
    assert lines & {*label["line"], *label["line_alt"]}, said(findings)
    assert done.returncode == label["exit_code"], done.stderr


@pytest.mark.torch
@pytest.mark.parametrize("label", GOOD, ids=name)
def test_a_healthy_script_is_left_alone(label: dict[str, Any], tmp_path: Path) -> None:
    findings, done = whygrad(label, tmp_path)

    assert not findings, said(findings)
    assert done.returncode == label["exit_code"], done.stderr


@pytest.mark.tensorflow
def test_tensorflow(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    results = run_all(HERE, "tensorflow", tmp_path)
    wrong = [
        f"{label['file']}: {trouble}"
        for label in labels_in(HERE, "tensorflow")
        for trouble in troubles(label, *results[label["file"]])
    ]
    assert wrong == []


def test_every_bad_script_has_a_good_twin_one_line_apart() -> None:
    bad_ones = [label for label in LABELS if not label["healthy"]]
    twins = {label["file"].replace("/good/", "/bad/") for label in LABELS if label["healthy"]}
    assert {label["file"] for label in bad_ones} == twins
    for label in bad_ones:
        bad = (HERE / label["file"]).read_text().splitlines()
        good = (HERE / label["file"].replace("/bad/", "/good/")).read_text().splitlines()
        changes = [change[0] for change in difflib.ndiff(bad, good) if change[0] in "+-"]
        assert sorted(changes) in (["+"], ["-"], ["+", "-"]), label["file"]


def test_every_line_of_a_label_has_code_on_it() -> None:
    for label in (label for label in LABELS if not label["healthy"]):
        source = (HERE / label["file"]).read_text().splitlines()
        assert label["line"], label["file"]
        assert all(source[line - 1].strip() for line in (*label["line"], *label["line_alt"])), label["file"]
