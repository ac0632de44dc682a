"""Hand-made causes: no framework anywhere near."""

import pytest

from whygrad.model import Parameter, Site
from whygrad.rules.dialects import dialect_of
from whygrad.rules.table import RULES

LAYERS = ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias")


def a_cause(rule, **fields):
    """A cause of this rule with these fields."""
    return RULES[rule].cause(**fields)


@pytest.fixture
def parameters():
    """The parameters of a two-layer network."""

    def make(network="actor", names=LAYERS):
        return tuple(Parameter(n, f"{network}.{name}", network) for n, name in enumerate(names))

    return make


@pytest.fixture
def said(parameters):
    """What a rule says about a cause."""

    def say(rule, code="", subjects=None, line=41, function="update", framework="torch", **more):
        site = more.pop("site", Site("/home/me/train.py", line, function, code))
        subjects = parameters() if subjects is None else subjects
        whole = more.pop("whole", frozenset(p.network for p in subjects))
        common = {"site": site, "subjects": subjects, "whole": whole, "dialect": dialect_of(framework)}
        return RULES[rule].phrase(a_cause(rule, **common, **more))

    return say
