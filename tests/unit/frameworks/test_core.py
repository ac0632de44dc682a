"""The core of a backend, with a framework of plain Python: optimizers, attention, figures, names."""

from __future__ import annotations

import gc
from math import sqrt
from typing import Any, NamedTuple

import pytest

from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.budget import BUDGET
from whygrad.frameworks.shared.figures import Figures
from whygrad.frameworks.shared.naming import Name, Walk, aliases
from whygrad.frameworks.shared.networks import tell_apart
from whygrad.frameworks.shared.nodes import Param
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.records import CopyRecord, OptimizerRecord, UpdateRecord
from whygrad.frameworks.shared.scopes import parts
from whygrad.model import Moved


class Object:
    """An optimizer that is an object."""


class Transform(NamedTuple):
    """An optimizer that is a value, and cannot be referred to weakly."""

    init: Any
    update: Any


class Vector(list):
    """A value of the framework of plain Python."""

    @property
    def shape(self):
        return (len(self),)


class Numbers:
    """Its numbers."""

    def largest(self, gradients):
        return {key: max(map(abs, gradient)) for key, gradient in gradients.items()}

    def joined(self, gradients, most):
        return Vector(x for gradient in gradients for x in gradient[:most])

    def part(self, param, most):
        return Vector(param.ref()[:most])

    def dot(self, one, other):
        return sum(a * b for a, b in zip(one, other, strict=True))

    def distance(self, one, other):
        return self.length([a - b for a, b in zip(one, other, strict=True)])

    def length(self, vector):
        return sqrt(self.dot(vector, vector))

    def finite(self, param):
        return all(x == x for x in param.ref())


@pytest.fixture
def optimizers():
    return Optimizers()


@pytest.fixture
def attention(optimizers):
    return Attention(optimizers)


def stepped(optimizers, attention, record, times, recorded=True):
    """Let it step; the updates that attention wants are recorded."""
    for _ in range(times):
        if recorded and (not record.steps or record.recorded < record.wanted):
            record.keep(UpdateRecord(record.steps + 1, None, frozenset(), frozenset(), ()))
        optimizers.count(record)
        attention.wants(record)


# -- optimizers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", [Object(), Transform(len, max)], ids=["object", "value"])
def test_an_optimizer_is_known_again(optimizers, optimizer):
    record = optimizers.made(optimizer, None)
    assert optimizers.of(optimizer) is record
    assert optimizers.record(optimizer) is record
    assert optimizers.of(Object()) is None


def test_a_value_keeps_its_address_as_long_as_it_is_known(optimizers):
    records = [optimizers.record(Transform(len, number)) for number in range(100)]
    assert len({record.key for record in records}) == 100
    assert [record.ref().update for record in records] == list(range(100))


def test_another_one_at_the_same_address_is_another_one(optimizers):
    first = optimizers.made(Object(), None)
    gc.collect()
    optimizers.by_address[id(second := Object())] = first  # as if its memory had been used again
    assert optimizers.of(second) is None
    again = optimizers.record(second)
    assert again is not first
    assert {first, again} <= set(optimizers.all())


def test_steps_that_were_only_noted_are_counted_with_the_next_one(optimizers):
    record, other = optimizers.record(Transform(1, 1)), optimizers.record(Transform(2, 2))
    optimizers.count(record)
    record.steps += 41  # the quick way
    assert (optimizers.steps, optimizers.taken()) == (1, 42)
    optimizers.count(record)
    optimizers.count(other, 7)
    assert (optimizers.steps, optimizers.taken()) == (50, 50)


def test_who_counts_itself_is_believed_if_it_knows_more(optimizers):
    record = optimizers.record(Transform(1, 1))
    optimizers.count(record, 3)
    optimizers.at_least(record, 2)
    assert record.steps == 3
    optimizers.at_least(record, 9)
    assert record.steps == 9


# -- attention ----------------------------------------------------------------------------------------


def test_recording_thins_out(optimizers, attention):
    record = optimizers.record(Transform(1, 1))
    stepped(optimizers, attention, record, BUDGET.window - 1)
    assert record.recorded == BUDGET.first
    assert attention.satisfied()
    stepped(optimizers, attention, record, BUDGET.window * BUDGET.thinning)
    assert record.recorded == BUDGET.first + 2 * BUDGET.again


def test_a_change_is_recorded_but_not_for_ever(optimizers, attention):
    record = optimizers.record(Transform(1, 1))
    stepped(optimizers, attention, record, BUDGET.first + 1)
    record.changed = True
    stepped(optimizers, attention, record, BUDGET.window - BUDGET.first - 2)
    assert record.triggers == BUDGET.triggers
    assert BUDGET.first < record.recorded <= BUDGET.first + BUDGET.again * BUDGET.triggers


def test_who_has_fallen_silent_is_not_waited_for(optimizers, attention):
    silent, busy = optimizers.record(Transform(1, 1)), optimizers.record(Transform(2, 2))
    stepped(optimizers, attention, silent, 1)
    stepped(optimizers, attention, busy, BUDGET.first)
    assert not attention.satisfied()
    stepped(optimizers, attention, busy, 2 * BUDGET.silent * BUDGET.first)
    assert attention.satisfied()


def test_a_run_is_judged_when_all_have_been_seen(optimizers, attention):
    one, other = optimizers.record(Transform(1, 1)), optimizers.record(Transform(2, 2))
    assert not attention.judged(2, half_blind=False)
    stepped(optimizers, attention, one, 3)
    assert not attention.judged(2, half_blind=False)
    stepped(optimizers, attention, other, 2)
    assert attention.judged(2, half_blind=False)


def test_what_trains_nothing_is_not_waited_for(attention):
    assert attention.judged(2, half_blind=False)


def test_the_terms_of_a_line_are_measured_a_few_times(attention):
    assert [attention.measures_shares("line 3") for _ in range(4)] == [True] * BUDGET.shares + [False] * 2
    assert attention.measures_shares("line 4")


# -- figures ------------------------------------------------------------------------------------------


def test_figures_of_an_update(optimizers, attention):
    figures, record = Figures(Numbers(), attention), optimizers.record(Transform(1, 1))
    weight = Vector([3.0, 4.0])
    param = Param(weight, (), True, True)
    updates = [UpdateRecord(n, None, frozenset(), frozenset(), ()) for n in (1, 2)]
    for update, gradient in zip(updates, ([1.0, 0.0], [-2.0, 0.0]), strict=True):
        record.keep(update)
        update.largest = figures.largest({param.key: gradient})
        figures.step_begins(record, update, [gradient], [param], moving=True)
        weight[:] = [0.0, 0.0]
        figures.step_ends()
    assert [u.largest for u in updates] == [{param.key: 1.0}, {param.key: 2.0}]
    assert [u.turned for u in updates] == [None, -1.0]
    assert updates[0].moved == {param.key: Moved(5.0, 5.0)}
    assert not updates[1].moved  # measured now and then


def test_broken_weights_say_what_the_last_gradients_were(optimizers, attention):
    figures, record = Figures(Numbers(), attention), optimizers.record(Transform(1, 1))
    weight = Vector([float("nan")])
    param = Param(weight, (), True, True)
    record.held = {param.key: param}
    figures.run_ends(record)
    assert [list(pulse.largest) for pulse in record.pulses.all()] == [[param.key]]


# -- names --------------------------------------------------------------------------------------------


class Names(Walk):
    """Of vectors."""

    def __init__(self):
        super().__init__()
        self.vectors = {}

    def _met(self, name, value, depth, network, holder, how):
        if isinstance(value, ZeroDivisionError):
            raise value
        if isinstance(value, Vector):
            self.vectors[id(value)] = Name(name, network or name)
            return []
        return [(f"{name}{part}", held, depth + 1, network, holder, how) for part, held in parts(value)]


def test_names_are_found_nearest_first_and_nothing_of_the_users_stops_that():
    weight = Vector([1.0])
    names = Names()
    names.walk([("broken", ZeroDivisionError(), 0), ("nets", {"pi": [weight]}, 0)])
    param = Param(weight, (), True, True)
    names.vectors[id(weight)].give(param)
    assert (param.name, param.network, param.seen) == ("nets['pi'][0]", "nets['pi'][0]", True)


def test_what_a_function_calls_a_thing_is_further_away_than_what_its_caller_does():
    weight = Vector([1.0])
    names = Names()
    names.walk([("agents", [{"pi": weight}], 0), ("agent", {"pi": weight}, 2)])
    assert names.vectors[id(weight)].name == "agent['pi']"  # the last to be met, in this walk
    names.walk([("agents", [{"pi": weight}], 0), ("agent", {"pi": weight}, 0)])
    assert names.vectors[id(weight)].name == "agents[0]['pi']"


def held(name, network):
    param = Param(Vector([1.0]), (), True, True)
    param.name, param.network = name, network
    return param


def test_a_model_that_holds_networks_is_not_one_network():
    params = [held(f"agent.{part}.0.weight", "agent") for part in ("actor", "critic", "target")]
    record = [OptimizerRecord(Vector([1.0]), None) for _ in range(2)]
    for optimizer, param in zip(record, params, strict=False):
        optimizer.held, optimizer.steps = {param.key: param}, 1
    tell_apart({p.key: p for p in params}, record, [])
    assert [p.network for p in params] == ["agent.actor", "agent.critic", "agent.target"]


def test_a_copy_of_a_part_is_a_network_and_the_layers_of_one_are_none():
    online, target = held("agent.q.0.weight", "agent"), held("agent.lag.0.weight", "agent")
    tell_apart({p.key: p for p in (online, target)}, [], [CopyRecord(online, target, None, "copy", 1.0, 0.0)])
    assert (online.network, target.network) == ("agent.q", "agent.lag")
    layers = [held(f"net.{n}.weight", "net") for n in ("0", "2")]
    tell_apart({p.key: p for p in layers}, [], [])
    assert {p.network for p in layers} == {"net"}


def test_networks_with_several_names():
    called = [(("online", "target"), [1, 2]), (("actor", "agent.actor"), [3])]
    assert aliases(called) == [(("online", "target"), (1, 2))]
