"""The list of runs: one line each, aligned, the newest first."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from whygrad.model import Severity, Site
from whygrad.reporters.runs import PastRun, render, verdict

NOW = datetime.now().astimezone().replace(month=6, day=15, hour=12, minute=30)


def past(run, name="train-1", **more):
    return PastRun(Path("runs") / name, more.pop("started", NOW), more.pop("ended", "finished"), run, **more)


def test_columns_are_aligned_and_folders_whole(run):
    long = replace(run, argv=tuple(f"--option-{n}=1" for n in range(20)))
    text = render([past(run, "a"), past(long, "a-very-long-name-of-a-folder")], width=112)
    head, first, second = text.splitlines()
    for column in ("script", "ended", "verdict", "folder"):
        at = head.index(column)
        assert first[at - 1] == second[at - 1] == " "
        assert first[at] != " " and second[at] != " "
    assert second.endswith("runs/a-very-long-name-of-a-folder")
    assert "train.py --" in second and "--option-19" not in second
    assert len(second) <= 112
    assert "06-15 12:30" in first


def test_an_older_year_is_named(run):
    text = render([past(run, started=NOW - timedelta(days=800))], width=120)
    assert (NOW - timedelta(days=800)).strftime("%Y-%m-%d") in text


def test_the_verdict_names_the_first_finding(run, finding):
    assert verdict(run) == "1 error: detached, train.py:4"
    warning = replace(finding, rule="vanishing", severity=Severity.WARNING)
    both = replace(run, findings=(finding, warning))
    assert verdict(both).startswith("1 error and 1 warning: detached, ")
    here = replace(finding, site=Site("train.py", 4))
    assert verdict(replace(run, findings=(here,))) == "1 error: detached, line 4"
    assert verdict(replace(run, findings=(), exception=None)) == "healthy"
    assert verdict(replace(run, findings=(), updates=())) == "no update"


def test_a_damaged_report_is_one_line(run):
    text = render([past(run), past(None, "broken", ended="damaged", trouble="no")])
    assert len(text.splitlines()) == 3
    assert "damaged" in text and "report.json cannot be read" in text and "runs/broken" in text


def test_colour_changes_no_width(run):
    import re

    runs = [past(run), past(replace(run, findings=()), ended="killed"), past(run, ended="still running")]
    painted = render(runs, color=True)
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render(runs)
