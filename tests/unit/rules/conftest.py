"""Hand-made causes: no framework anywhere near."""

import pytest

from whygrad.model import Parameter, Site
from whygrad.rules.cause import Cause
from whygrad.rules.table import RULES

LAYERS = ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias")


@pytest.fixture
def parameters():
    """The parameters of a two-layer network."""

    def make(network="actor", names=LAYERS):
        return tuple(Parameter(n, f"{network}.{name}", network) for n, name in enumerate(names))

    return make


@pytest.fixture
def said(parameters):
    """What a rule says about a cause."""

    def say(rule, code="", subjects=None, line=41, function="update", **more):
        site = more.pop("site", Site("/home/me/train.py", line, function, code))
        details = {key: more.pop(key) for key in list(more) if key not in Cause.__dataclass_fields__}
        subjects = parameters() if subjects is None else subjects
        return RULES[rule].phrase(Cause(rule, site, subjects, details={"whole": "yes", **details}, **more))

    return say
