"""The terminal report: what it says, and that it stays within the width."""

import re
from dataclasses import replace

import pytest

from whygrad.model import Confidence, Finding, Raised, Severity, Site, Step
from whygrad.reporters.terminal import render, render_finding

FINDING = """\
error[detached] actor gets no gradient: cut by .detach()

    train.py:4, in update
      3 │ def update(s):
    > 4 │     a = actor(s).detach()  # "keep the critic"
        │                 ^^^^^^^^^
      5 │     q = critic(s, a)

    ○ actor.0.weight
    ✗ .detach()         line 4  cut here
    │ q = critic(s, a)  line 5
    ● loss = -q.mean()  line 6

    who    actor.0 (2 parameters) · actor_opt · 120 updates
    why    `.detach()` drops the history.
    fix    write `a = actor(s)`
    avoid  `loss.requires_grad = True`
"""


def plain(text):
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def test_one_finding(finding):
    assert render_finding(finding) == FINDING


def test_the_whole_report(run):
    text = render(run)
    head, body = text.split("\n\n", 1)
    assert head.splitlines() == [
        "─" * 88,
        "whygrad: 1 error in train.py (1,320 updates, PyTorch 2.13.0)",
        "the script stopped with RuntimeError at train.py:7: element 0 of tensors",
    ]
    assert body.startswith(FINDING)
    assert body.endswith(
        "right   no_grad is right here (train.py:5)\n"
        "note    a thread was not seen\n\n"
        "read more    whygrad explain detached\n"
        "try a fix    whygrad fix train.py --lr 1e-3\n"
        "after a fix  whygrad check train.py --lr 1e-3\n"
    )


def test_colour_changes_nothing_but_colour(run):
    painted = render(run, color=True)
    assert "\x1b[" in painted
    assert plain(painted) == render(run).replace("`", "")
    assert "\x1b[" not in render(run, color=False)


def test_healthy_is_one_sentence_with_reasons(run):
    healthy = replace(run, findings=(), notes=(), exception=None, exit_code=0)
    assert render(healthy, width=200) == (
        "whygrad: healthy. 1,320 updates: actor learns from the loss at train.py:6 (actor_opt, 120); critic and "
        "encoder learn from the loss at train.py:5 (critic_opt, 1,200)\n"
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"updates": ()}, "not judged: train.py made no optimizer step: there was nothing to judge"),
        (
            {"updates": (), "frameworks": ()},
            "not judged: train.py uses no framework that whygrad watches (PyTorch, TensorFlow and JAX)",
        ),
        (
            {"frameworks": (), "exception": Raised("ValueError", "no"), "updates": ()},
            "the script stopped with ValueError: no; no framework was imported up to there",
        ),
        (
            {"exception": Raised("KeyboardInterrupt", "")},
            "the script was interrupted; this is the diagnosis so far; up to there no fault was found: actor",
        ),
    ],
)
def test_nothing_found_and_why(run, changes, sentence):
    quiet = replace(run, **{"findings": (), "notes": (), "exception": None, **changes})
    assert render(quiet, width=300).startswith(f"whygrad: {sentence}")


def test_updates_that_nobody_recorded_are_not_called_healthy(run):
    blind = tuple(replace(u, recorded=0) for u in run.updates)
    text = render(replace(run, findings=(), notes=(), exception=None, updates=blind))
    assert text == "whygrad: not judged: 1,320 updates, none of them recorded\n"


def test_a_remark_is_shown_and_the_run_is_still_healthy(run, finding):
    text = render(
        replace(run, findings=(replace(finding, severity=Severity.NOTE),), exception=None), width=200
    )
    assert text.startswith("whygrad: healthy.")
    assert "note[detached]" in text
    assert "read more" not in text


def test_doubt_is_said(finding):
    text = render_finding(replace(finding, confidence=Confidence.LIKELY, first_update=7))
    assert "120 updates since update 7 · likely, not certain" in text.replace("\n           ", " ")


@pytest.mark.parametrize("width", [60, 72, 88, 120])
def test_width(run, finding, width):
    long = replace(
        finding,
        title="actor does not learn through " + "critic(state, action), " * 6,
        fix="write `" + "x + " * 40 + "x`",
        chain=tuple(
            Step(f"step_{n} = " + "f(x) + " * 20, Site("/far/away/" + "d/" * 5 + "n.py", n))
            for n in range(30)
        ),
        subjects=tuple(f"actor.layers.{n}.weight" for n in range(40)),
    )
    lines = plain(render(replace(run, findings=(long,)), width=width, color=True)).splitlines()
    assert max(map(len, lines)) <= width


def test_a_source_that_is_gone_is_tolerated(finding):
    gone = replace(finding, site=Site("/gone/train.py", 4, "<module>", "a = b.detach()"))
    text = render_finding(gone)
    assert "/gone/train.py:4\n" in text and "> 4 │ a = b.detach()" in text
    assert render_finding(replace(finding, site=Site("<stdin>", 1))).count("<stdin>:1") == 1


def test_a_finding_with_nothing_but_a_title():
    bare = Finding("detached", "actor gets no gradient", None, "")
    assert render_finding(bare) == "error[detached] actor gets no gradient\n"


def test_two_rules_two_pages(run, finding):
    both = replace(run, findings=(finding, replace(finding, rule="frozen"), finding))
    assert "read more    whygrad explain detached\n             whygrad explain frozen\n" in render(both)
