"""Workflow commands as the runner reads them, and the page of the job."""

import re
from dataclasses import replace

from whygrad.model import GradientMap, LossTerm, Reached, Run, Severity, Site
from whygrad.reporters import github, markdown


def read(line):
    """What the runner makes of a command, by its own rules."""
    kind, fields, data = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line).groups()
    undo = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))

    def plain(text):
        for code, letter in undo:
            text = text.replace(code, letter)
        return text

    return kind, {k: plain(v) for k, v in (f.split("=", 1) for f in fields.split(","))}, plain(data)


def test_a_finding_is_an_annotation_on_its_line(run, here):
    (line,) = github.commands(run, str(here)).splitlines()
    kind, fields, message = read(line)
    assert kind == "error"
    assert (fields["file"], fields["line"]) == ("train.py", "4")
    assert (fields["col"], fields["endColumn"]) == ("17", "25")  # .detach()
    assert fields["title"] == "detached: actor gets no gradient: cut by .detach()"
    assert message.splitlines() == [
        "`.detach()` drops the history.",
        "Fix: write `a = actor(s)`",
        "Avoid: `loss.requires_grad = True`",
    ]


def test_what_means_something_to_the_runner_is_escaped(run, finding, here):
    odd = replace(finding, title="a, b: 100 %\nnext", why="50 % of x::y\r\nand", severity=Severity.WARNING)
    (line,) = github.commands(replace(run, findings=(odd,)), str(here)).splitlines()
    kind, fields, message = read(line)
    assert kind == "warning"
    assert fields["title"] == "detached: a, b: 100 %\nnext"
    assert message.startswith("50 % of x::y\r\nand\n")


def test_a_file_outside_of_the_workspace_is_named_in_the_message(run, finding, here):
    away = replace(finding, site=Site("/elsewhere/x.py", 9), severity=Severity.NOTE)
    (line,) = github.commands(replace(run, findings=(away,)), str(here)).splitlines()
    kind, fields, message = read(line)
    assert kind == "notice"
    assert "file" not in fields
    assert message.startswith("at /elsewhere/x.py:9\n")


def test_files_are_relative_to_the_workspace(run, here):
    (line,) = github.commands(run, str(here.parent)).splitlines()
    assert read(line)[1]["file"] == f"{here.name}/train.py"


def test_a_healthy_run_has_no_annotation(here):
    assert github.commands(Run("train.py"), str(here)) == ""


def test_the_summary_shows_the_line_and_the_fix(run, here):
    page = github.summary(run)
    assert page.startswith("## whygrad: train.py\n")
    assert "### error: actor gets no gradient: cut by .detach()" in page
    assert '> 4      a = actor(s).detach()  # "keep the critic"' in page
    assert "- **fix**: write `a = actor(s)`" in page
    assert "the script stopped with RuntimeError at train.py:7" in page


def test_names_are_not_taken_for_markdown():
    assert markdown.prose("q_net.__init__ <b> | `a_b` *x*") == (
        r"q\_net.\_\_init\_\_ &lt;b&gt; &#124; `a_b` \*x\*"
    )


def test_who_trains_whom_is_a_table(at):
    terms = (
        LossTerm("policy|loss", at(5), (Reached("actor", True, 0.93, ("opt",)), Reached("critic", True))),
        LossTerm("entropy", None, (Reached("actor", True, None, ("opt",)), Reached("critic", False))),
    )
    table = markdown.who_trains_whom([GradientMap("opt", at(6), terms, "hooks")])
    head, rule, first, second, *_ = table.splitlines()
    assert head == "| term of the loss | line | stepped by | actor | critic |"
    assert rule.count("|") == 6
    assert first == "| policy&#124;loss | train.py:5 | opt | 93 % | · |"
    assert second == "| entropy |  | opt | yes | - |"
    assert "Shares were not measured: hooks" in table
    assert markdown.who_trains_whom([]) == ""
