"""Who has lost sight of a run concludes nothing from what did not come."""

from dataclasses import replace

import pytest

from whygrad.flow.situation import Situation
from whygrad.model import Evidence, Optimizer, Parameter, Site
from whygrad.rules.judging import causes
from whygrad.rules.table import RULES


@pytest.fixture
def idle():
    """An optimizer that has only been seen with a learning rate of zero."""
    weight = Parameter(1, "actor.weight", "actor")
    optimizer = Optimizer(
        7, "actor_opt", "Adam", Site("train.py", 3), frozenset((1,)), steps=9, lr_always_zero=True
    )
    return Evidence(parameters={1: weight}, optimizers={7: optimizer})


def test_no_step_is_a_finding_only_if_all_was_seen(idle):
    assert [cause.rule for cause in causes(Situation(idle))] == ["no-step"]
    lost = replace(idle, complete=False, lost="RuntimeError: injected")
    assert causes(Situation(lost)) == []


@pytest.mark.parametrize(
    "rule",
    [
        "no-step",
        "not-in-optimizer",
        "loss-independent",
        "target-never-synced",
        "zero-grad-missing",
        "stalled",
    ],
)
def test_rules_about_what_never_came_are_silent(rule):
    assert not RULES[rule].cause.seen


def test_some_rules_still_speak():
    assert RULES["detached"].cause.seen
