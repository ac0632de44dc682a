"""Densities that somebody has written out."""

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.densities import own_density


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
