"""A run of which sight was lost is never called healthy, wherever it is shown."""

import re
from dataclasses import replace

import pytest

from whygrad.model import Run, UpdateCount
from whygrad.reporters import html_report, json_report, markdown, notebook, runs, terminal

WHY = "judging stopped at update 3: RuntimeError: injected"


@pytest.fixture
def lost(run):
    """Nothing was found in it, and it was not seen to its end."""
    return replace(run, findings=(), exception=None, exit_code=0, blind=WHY)


@pytest.mark.parametrize("render", [terminal.render, markdown.verdict, html_report.render, notebook.html])
def test_no_verdict_but_where_judging_stopped(lost, render):
    text = " ".join(re.sub(r"<(style|script).*?</\1>", "", render(lost), flags=re.DOTALL).split())
    assert WHY in text
    assert "healthy" not in text and "learns" not in text


def test_in_json_it_is_not_healthy_and_comes_back(lost):
    assert '"healthy": false' in json_report.render(lost)
    assert json_report.parse(json_report.render(lost)).blind == WHY
    assert json_report.parse(json_report.render(replace(lost, blind=""))).healthy


def test_before_the_first_update_nothing_was_judged(lost):
    nothing = replace(lost, updates=(UpdateCount("actor_opt", 12, 0),))
    assert "not judged: 12 updates, none of them recorded: judging stopped" in " ".join(
        terminal.render(nothing).split()
    )
    assert "not judged: whygrad could not" in terminal.render(
        Run("train.py", blind="whygrad could not watch this run")
    )


def test_in_the_list_of_runs(lost):
    assert runs.verdict(lost) == "not judged to its end"


def test_what_was_found_before_is_still_said(run):
    text = " ".join(terminal.render(replace(run, blind=WHY)).split())
    assert "1 error" in text and WHY in text
