"""whygrad over our own labelled scripts: the right rule on the right line, and silence where all is well.

Each script runs in a process of its own, forked from one that has the framework loaded. The bad and the good script
of a pair are one line apart. ``labels.json`` has the form that ``benchmarks/accuracy.py`` reads.
"""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest

from tests.labelled import labels_in, run_all, troubles

HERE = Path(__file__).parent
LABELS = json.loads((HERE / "labels.json").read_text())
BAD = [label for label in LABELS if not label["healthy"]]


@pytest.mark.parametrize(
    "framework",
    [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("torch", "tensorflow")],
)
def test_faults_are_named_on_their_lines_and_healthy_scripts_left_alone(framework: str, tmp_path: Path) -> None:
    pytest.importorskip(framework)
    results = run_all(HERE, framework, tmp_path)
    wrong = [
        f"{label['file']}: {trouble}"
        for label in labels_in(HERE, framework)
        for trouble in troubles(label, *results[label["file"]])
    ]
    assert wrong == []


def test_every_bad_script_has_a_good_twin_one_line_apart() -> None:
    twins = {label["file"].replace("/good/", "/bad/") for label in LABELS if label["healthy"]}
    assert {label["file"] for label in BAD} == twins
    for label in BAD:
        bad = (HERE / label["file"]).read_text().splitlines()
        good = (HERE / label["file"].replace("/bad/", "/good/")).read_text().splitlines()
        changes = [change[0] for change in difflib.ndiff(bad, good) if change[0] in "+-"]
        assert sorted(changes) in (["+"], ["-"], ["+", "-"]), label["file"]


def test_every_line_of_a_label_has_code_on_it() -> None:
    for label in BAD:
        source = (HERE / label["file"]).read_text().splitlines()
        assert label["line"], label["file"]
        assert all(source[line - 1].strip() for line in (*label["line"], *label["line_alt"])), label["file"]
