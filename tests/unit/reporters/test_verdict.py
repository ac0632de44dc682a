"""The verdict: health is said of what was measured, and what was not judged stands in the same sentence."""

from dataclasses import replace

import pytest

from whygrad.model import Note, Raised, Run, Site, UpdateCount, Verdict
from whygrad.reporters import html_report, json_report, markdown, runs, terminal
from whygrad.reporters.summary import healthy

LEARNS = UpdateCount("opt", 12, 6, ("policy",))
GOOD = Run("train.py", frameworks=("torch",), updates=(LEARNS,))
COMPILED = "torch.compile was used: operations inside compiled code are not seen"


def test_health_needs_everything():
    assert GOOD.verdict is Verdict.HEALTHY and GOOD.healthy
    assert healthy(GOOD) == "healthy. 12 updates: policy learns (opt, 12)"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            {"updates": (replace(LEARNS, silent=("value",)),)},
            "no fault found, but value was not seen to learn.",
        ),
        (
            {"updates": (LEARNS, UpdateCount("slow", 2))},
            "no fault found, but no update of slow was recorded.",
        ),
        ({"notes": (Note(COMPILED, kind="doubt"),)}, f"no fault found, but {COMPILED}."),
    ],
)
def test_what_was_not_judged_stands_in_the_verdict(other, said):
    run = replace(GOOD, **other)
    assert run.verdict is Verdict.NO_FAULT and not run.healthy
    assert healthy(run).startswith(said)
    for render in (terminal.render, markdown.verdict, html_report.render):
        assert "healthy. " not in render(run)
    assert '"verdict": "no fault found"' in json_report.render(run)
    assert json_report.parse(json_report.render(run)).doubts == run.doubts
    assert runs.verdict(run).startswith("no fault found, but ")


def test_nothing_is_said_to_learn_that_was_not_measured_to():
    run = replace(GOOD, updates=(replace(LEARNS, networks=(), silent=("policy",)),))
    assert "learns" not in healthy(run) and "nothing was seen to learn (opt, 12)" in healthy(run)


def test_few_updates_are_no_health_and_no_fault():
    run = replace(GOOD, stopped_early=True)
    assert run.verdict is Verdict.NO_FAULT and run.healthy
    assert healthy(run).startswith("no fault found in 12 updates, then ended early: policy learns")
    assert "never synced" in healthy(run)
    assert runs.verdict(run) == "no fault found in a few updates"


def test_a_run_that_crashed_or_is_not_over_is_not_called_healthy_in_the_list():
    crashed = replace(GOOD, exception=Raised("KeyError", "x"), exit_code=1)
    assert runs.verdict(crashed) == "no fault found until it stopped"
    assert "up to there no fault was found" in healthy(crashed)
    assert runs.verdict(replace(GOOD, finished=False)) == "no fault found so far"


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (Run("train.py"), "uses no framework that whygrad watches (PyTorch, TensorFlow and JAX)"),
        (Run("train.py", frameworks=("torch",)), "train.py made no optimizer step"),
        (Run("train.py", frameworks=("mxnet",)), "no optimizer step was seen, and mxnet is not watched"),
        (replace(GOOD, updates=(UpdateCount("opt", 12),)), "12 updates, none of them recorded"),
        (replace(GOOD, updates=(), blind="Keras runs on jax here"), "Keras runs on jax here"),
    ],
)
def test_nothing_was_judged(run, why):
    assert run.verdict is Verdict.NOT_JUDGED
    assert healthy(run).startswith("not judged: ") and why in healthy(run)


def test_optimizers_that_one_line_makes_again_and_again_are_told_of_once():
    site = Site("train.py", 44)
    many = tuple(
        UpdateCount("inner", 2, 1, ("learner",), Site("train.py", 50), made=site) for _ in range(120)
    )
    said = healthy(replace(GOOD, updates=many))
    assert (
        "learner learns from the loss at train.py:50 (120 optimizers inner made at train.py:44, 240)" in said
    )
    assert said.count("learner") == 1
