"""Evidence made by hand; see ``tests/unit/flow/build.py``."""

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.situation import Situation
from whygrad.rules.judging import causes


@pytest.fixture
def run():
    """A script that has not done anything yet."""
    return Build()


@pytest.fixture
def judge():
    """The causes that are found in a run."""

    def find(run, crash=None):
        return causes(Situation(run.evidence(crash)))

    return find


@pytest.fixture
def only(judge):
    """The one cause that is found in a run."""

    def find(run, crash=None):
        (cause,) = judge(run, crash)
        return cause

    return find
