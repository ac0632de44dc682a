"""Densities that somebody has written out."""

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.densities import own_density
from whygrad.flow.situation import Situation
from whygrad.rules.targets.judge_bounded import bounded_means


class Drawn(Build):
    """``u = mu + std * noise``, and its log-probability."""

    def __init__(self, noise: str = "randn") -> None:
        super().__init__()
        actor = self.network("actor")
        self.mu, self.std = self.call(actor), self.op("exp", self.call(actor))
        self.u = self.op("add", self.mu, self.op("mul", self.std, self.op(noise, carries=False)))

    def density(self, value: int, factor: float = -0.5) -> int:
        """``factor * ((value - mu) / std) ** 2``, less what squashing takes."""
        far = self.op("div", self.op("sub", value, self.mu), self.std)
        gauss = self.op("mul", self.op("square", far), numbers=(factor,))
        return self.op("sum", gauss)

    def squashed(self, value: int) -> int:
        left = self.op("rsub", self.op("square", self.op("tanh", value)), numbers=(1.0,))
        return self.op("log", self.op("add", left, numbers=(1e-6,)))

    def asked(self, number: int) -> int:
        return own_density(self.evidence_flow(), number)

    def evidence_flow(self):
        return self.backward(self.u).flow


@pytest.mark.parametrize(("factor", "sign"), [(-0.5, 1), (0.5, -1)])
def test_a_gaussian_around_its_own_sample(factor, sign):
    run = Drawn()
    assert run.asked(run.density(run.u, factor)) == sign


def test_what_squashing_takes_away():
    run = Drawn()
    assert run.asked(run.op("sub", run.op("mean", run.mu), run.squashed(run.u))) == 1
    assert run.asked(run.squashed(run.u)) == -1


def test_an_action_of_a_batch_is_no_sample_of_its_own():
    run = Drawn()
    assert run.asked(run.density(run.data())) == 0


def test_what_is_added_must_be_noise():
    run = Drawn(noise="data")
    assert run.asked(run.density(run.u)) == 0


@pytest.mark.parametrize(
    ("last", "learnt", "doubts"), [("relu", True, 1), ("tanh", True, 0), ("neg", True, 0), ("relu", False, 0)]
)
def test_a_mean_that_is_never_below_zero_is_doubted(last, learnt, doubts):
    """Noise on a layer, of a strength that nobody learns, is no draw."""
    run = Build()
    actor = run.network("actor")
    mean, deviation = run.op(last, run.call(actor, line=3), line=3), run.op("exp", run.call(actor))
    noise = run.op("randn", carries=False)
    strength = [deviation] if learnt else []
    action = run.op("add", mean, run.op("mul", *strength, noise, carries=learnt), line=5)
    run.update(run.optimizer("opt", actor), run.backward(run.op("mean", run.op("tanh", action))))
    found = list(bounded_means(Situation(run.evidence())))
    assert [(note.kind, "relu" in note.text) for note in found] == [("doubt", True)] * doubts
