"""What the user does not want to hear of is counted, never dropped."""

import pytest

from whygrad.model import Finding, Run, Severity, Site, UpdateCount
from whygrad.model.choice import Choice
from whygrad.model.source import Texts, reading
from whygrad.reporters import json_report
from whygrad.running.ignoring import ignoring

TEXT = "x = 1  # whygrad: ignore[detached, frozen]\ny = 2\n"


def found(rule, line=1):
    return Finding(rule, f"{rule} happened", Site("train.py", line), "", Severity.ERROR)


def after(*findings, choice=None):
    run = Run("train.py", findings=findings, updates=(UpdateCount("opt", 1, made=Site("train.py", 2)),))
    with reading(Texts({"train.py": TEXT})):
        return ignoring(run, choice or Choice())


def test_a_comment_on_the_line():
    run = after(found("detached"), found("frozen"), found("detached", 2))
    assert [f.site.line for f in run.findings] == [2]
    assert [(i.rule, i.by) for i in run.ignored] == [("detached", "comment"), ("frozen", "comment")]
    assert (
        run.notes[0].text
        == "2 findings are ignored: detached at line 1 (comment); frozen at line 1 (comment)"
    )


def test_a_comment_that_ignores_nothing_is_told():
    run = after(found("detached"))
    assert "ignore[frozen] in line 1 ignores nothing" in run.notes[-1].text
    assert run.notes[-1].site.line == 1


@pytest.mark.parametrize(
    "choice, kept",
    [
        (Choice(ignore=("no-step",), by="whygrad.toml"), ["value-sign"]),
        (Choice(select=("no-step",), by="command line"), ["no-step"]),
    ],
)
def test_a_choice_of_rules(choice, kept):
    run = after(found("no-step", 2), found("value-sign", 2), choice=choice)
    assert [f.rule for f in run.findings] == kept
    assert choice.by in run.ignored[0].by


def test_it_is_in_the_json():
    run = after(found("detached"))
    assert json_report.parse(json_report.render(run)).ignored == run.ignored


def test_a_project_s_mistake_is_a_note():
    run = after(choice=Choice(trouble=("whygrad.toml: no such rule",)))
    assert run.notes[0].text == "whygrad.toml: no such rule"
