"""whygrad over our own labelled scripts: the right rule on the right line, and silence where all is well.

Each script is a test (``-k detached_ddpg_actor``, or ``make case NAME=detached_ddpg_actor``), and runs in a process of its own, forked
from one that has the framework loaded. The bad and the good script of a pair are one line apart. ``labels.json`` has the
form that ``benchmarks/accuracy.py`` reads.
"""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from tests.labelled import Forks, one_of_each_rule, scripts, troubles

HERE = Path(__file__).parent
LABELS = json.loads((HERE / "labels.json").read_text())
BAD = [label for label in LABELS if not label["healthy"]]


# A class for each framework, so that two workers share them.
class TestTorch:
    @scripts(HERE, "torch", kept=one_of_each_rule(HERE, "torch"))
    def test_as_labelled(self, label: dict[str, Any], forks: Forks) -> None:
        assert list(troubles(label, *forks.run("torch", HERE / label["file"]))) == []


class TestTensorFlow:
    @scripts(HERE, "tensorflow", kept=one_of_each_rule(HERE, "tensorflow"))
    def test_as_labelled(self, label: dict[str, Any], forks: Forks) -> None:
        assert list(troubles(label, *forks.run("tensorflow", HERE / label["file"]))) == []


class TestJax:
    @scripts(HERE, "jax", kept=one_of_each_rule(HERE, "jax"))
    def test_as_labelled(self, label: dict[str, Any], forks: Forks) -> None:
        assert list(troubles(label, *forks.run("jax", HERE / label["file"]))) == []


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
