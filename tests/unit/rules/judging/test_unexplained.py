"""What was measured not to learn is said, also where nobody knows why; and nothing is said of the rest."""

from dataclasses import replace

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.facts import facts, learning
from whygrad.flow.gradient_map import gradient_maps
from whygrad.flow.situation import Situation
from whygrad.model import Evidence, Moved, Pulse, Severity
from whygrad.rules.judging import causes
from whygrad.rules.unexplained.unexplained import Fate


def trained(sizes: list[float], steps: int = 0, moved: float | None = None, **facts_: object) -> Evidence:
    """An actor whose gradients were as large as this in its updates, and a critic beside it that learns."""
    run = Build()
    actor, critic = run.network("actor", **facts_), run.network("critic")
    optimizer = run.optimizer("opt", actor, critic)
    for size in sizes:
        action = run.op("clamp", run.call(actor, line=10), line=11)
        loss = run.op("mean", run.call(critic, action, line=12), line=13)
        largest = {**dict.fromkeys(actor.keys, size), **dict.fromkeys(critic.keys, 1.0)}
        zero = actor.keys if size == 0 else frozenset()
        motion = {} if moved is None else {key: Moved(moved, 1.0) for key in actor.keys}
        run.update(optimizer, run.backward(loss), zero=zero, largest=largest, moved=motion)
    evidence = run.evidence()
    made = replace(evidence.optimizers[optimizer.key], steps=steps or len(sizes))
    return replace(evidence, optimizers={made.key: made})


def unexplained(evidence: Evidence) -> list:
    return [c for c in causes(Situation(evidence)) if c.rule == "unexplained"]


def test_zero_in_every_update_is_an_error_with_the_last_living_place_and_what_may_be_flat():
    (cause,) = unexplained(trained([0.0] * 4))
    assert cause.fate is Fate.ZERO and cause.severity is Severity.ERROR
    assert {p.network for p in cause.subjects} == {"actor"}
    assert cause.site.line == 12 and cause.alive.startswith("critic.")
    assert cause.suspects == ("`clamp` at line 11",)


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([0.0, 0.0], id="too few to say"),
        pytest.param([0.0, 0.0, 0.0, 0.1], id="it came"),
        pytest.param([0.1, 0.0, 0.0], id="zero for a while"),
        pytest.param([0.1, 1e-9, 1e-9, 1e-9], id="rounding is not zero"),
    ],
)
def test_zeros_that_mean_nothing(sizes):
    assert unexplained(trained(sizes)) == []


@pytest.mark.parametrize("why", [{"trainable": False, "trained": True}, {"alive": False}, {"lasting": False}])
def test_whoever_need_not_learn(why):
    assert unexplained(trained([0.0] * 4, **why)) == []


def test_a_gradient_that_dies_is_a_warning_with_the_update_since_which():
    evidence = trained([0.5] * 4, steps=400)
    (key,) = evidence.optimizers
    keys = [k for k, p in evidence.parameters.items() if p.network == "actor"]
    late = tuple(Pulse(number, dict.fromkeys(keys, 0.0)) for number in (100, 200, 300, 390))
    (cause,) = unexplained(replace(evidence, pulses={key: late}))
    assert (cause.severity, cause.since, cause.first_update) == (Severity.WARNING, 100, 100)
    assert unexplained(replace(evidence, pulses={key: late[-1:]})) == []


def test_weights_that_stand_still_below_a_living_gradient():
    assert unexplained(trained([0.5] * 4, moved=0.1)) == []
    still = trained([0.5] * 4, moved=0.0, shape=(4,))
    (cause,) = unexplained(still)
    assert cause.fate is Fate.UNMOVED
    assert learning(Situation(still), next(iter(still.optimizers.values()))) == (("critic",), ("actor",))


def test_steps_without_a_backward():
    run = Build()
    optimizer = run.optimizer("opt", run.network("q"))
    for _ in range(3):
        run.update(optimizer, line=60)
    (cause,) = unexplained(run.evidence())
    assert cause.fate is Fate.UNCOMPUTED and cause.severity is Severity.ERROR and cause.site.line == 60


def test_learning_is_what_was_measured():
    evidence = trained([0.0, 0.5, 0.5])
    optimizer = next(iter(evidence.optimizers.values()))
    assert learning(Situation(evidence), optimizer) == (("actor", "critic"), ())
    fact = next(iter(facts(Situation(evidence), optimizer).values()))
    assert (fact.looked, fact.alive, fact.zeros) == (3, 2, ())
    dead = trained([0.0] * 3)
    assert learning(Situation(dead), next(iter(dead.optimizers.values()))) == (("critic",), ("actor",))


def test_nobody_has_a_share_in_a_gradient_of_zeros():
    (shown,) = gradient_maps(Situation(trained([0.0] * 3)))
    assert {cell.network: cell.share for cell in shown.terms[0].networks} == {"actor": 0.0, "critic": 1.0}
