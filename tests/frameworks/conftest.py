"""Runs a few lines under the torch backend and gives what it has recorded."""

import contextlib
import sys

import pytest
import torch

from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.frameworks.torch.backend import TorchBackend
from whygrad.model import Evidence


class Seen:
    """What a backend has recorded, with the questions that the tests ask."""

    def __init__(self) -> None:
        self.evidence = Evidence()
        self.notes = ()
        self.updates = ()

    def values(self, backward=-1):
        """The operations behind the loss of a backward."""
        every = {b.number: b for u in self.evidence.updates for b in u.backwards}
        every |= {b.number: b for b in self.evidence.loose}
        return every[sorted(every)[backward]]

    def named(self, name, backward=-1):
        """The operations of this name behind the loss."""
        return [op for op in self.values(backward).flow.ops.values() if op.name == name]

    def one(self, name, backward=-1):
        (op,) = self.named(name, backward)
        return op

    def inputs(self, op, backward=-1):
        flow = self.values(backward).flow
        return [flow[i].name for i in op.inputs]

    def reached(self, backward=-1):
        known = self.evidence.parameters
        return {known[key].name for key in self.values(backward).reached}

    def parameter(self, name):
        (found,) = [p for p in self.evidence.parameters.values() if p.name == name]
        return found


@contextlib.contextmanager
def recording(frame):
    seen, backend = Seen(), TorchBackend()
    backend.attach(Setup(lambda: {**frame.f_globals, **variables_of(frame)}))
    try:
        yield seen
        observed = backend.observe()
        seen.evidence, seen.notes, seen.updates = observed.evidence, observed.notes, observed.updates
    finally:
        backend.detach()
    assert [note for note in seen.notes if note.kind == "internal"] == []


@pytest.fixture
def recorded():
    """``with recorded() as seen: ...``: names are those of the test."""
    torch.manual_seed(0)
    return lambda: recording(sys._getframe(1))


@pytest.fixture
def net():
    return torch.nn.Linear(3, 2)
