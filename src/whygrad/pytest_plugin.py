"""The pytest fixture ``gradients``: records the test, so that a failed assertion names the line.

    def test_actor_learns_through_the_critic(gradients):
        loss = -critic(state, actor(state)).mean()
        gradients.assert_flow(loss, actor)

pytest loads this file in every run; nothing else is imported before a test asks for the fixture.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from whygrad.api import Findings


class Gradients:
    """Asks about losses of the test that is being recorded."""

    def assert_flow(self, loss: Any, model: Any) -> None:
        """Fail the test if a parameter of ``model`` would get no gradient from ``loss``."""
        __tracebackhide__ = True
        from whygrad.api.asking import Question, demand

        demand(Question(loss, model, sys._getframe(1)).verdict())

    def explain(self, loss: Any, model: Any) -> Findings:
        """Which parameters of ``model`` would get no gradient from ``loss``, and why."""
        from whygrad.api.asking import Question

        return Question(loss, model, sys._getframe(1)).verdict().findings


@pytest.fixture
def gradients() -> Iterator[Gradients]:
    """Record the test: ``gradients.assert_flow(loss, actor)``."""
    from whygrad.api.recording import Watched

    with Watched():
        yield Gradients()
