"""When our own recording fails: what was not seen is not judged."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import whygrad
from whygrad.frameworks.torch import shares


def train(rate, steps=6):
    """Updates of a loss of two terms, whose learning rate is given for each step."""
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate(step)
        loss = net(torch.ones(2, 3)).pow(2).mean() + 0.1 * net.weight.pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def rules_of(rate):
    with whygrad.watching() as run:
        train(rate)
    return {finding.rule for finding in run.findings}


@pytest.fixture
def fails_at(monkeypatch):
    """Let our recording fail at its n-th question about the terms of a loss."""

    def arrange(n):
        calls = []

        def failing(*arguments):
            calls.append(arguments)
            if len(calls) >= n:
                raise ZeroDivisionError("ours")
            return [], ""

        monkeypatch.setattr(shares, "measure", failing)

    return arrange


def test_a_learning_rate_that_nobody_saw_is_not_zero(fails_at):
    fails_at(1)
    assert "no-step" not in rules_of(lambda step: 0.1)


def test_a_learning_rate_that_may_have_grown_unseen_is_not_zero(fails_at):
    fails_at(2)
    assert "no-step" not in rules_of(lambda step: 0.1 * min(step, 1))


def test_a_learning_rate_of_zero_is_told():
    assert "no-step" in rules_of(lambda step: 0.0)


def test_a_pytorch_that_takes_an_edge_for_a_tensor_leaves_the_shares_unknown(monkeypatch):
    def old(outputs, *arguments, **options):
        return outputs[0].is_nested if isinstance(outputs, list) else [torch.ones(())] * len(arguments[0])

    monkeypatch.setattr(torch.autograd, "grad", old)
    with whygrad.watching() as run:
        train(lambda step: 0.1)
    assert run.findings == ()
    assert not any("stopped early" in note.text for note in run.result.notes)
