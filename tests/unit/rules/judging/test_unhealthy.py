"""Figures of trainings, made by hand: which of them are a fault, and which are life."""

from dataclasses import replace
from math import inf, nan

import pytest
from tests.unit.flow.build import operation

from whygrad.flow.situation import Situation
from whygrad.model import (
    Backward,
    Evidence,
    Flow,
    Mark,
    Moved,
    Optimizer,
    Parameter,
    Pulse,
    Site,
    Update,
    Values,
)
from whygrad.rules.judging import causes

FIRST, LAST = 1, 2
ZERO, ONE = Values(0.0, 0.0), Values(-1.0, 1.0)


def at(line):
    return Site("/home/me/train.py", line, "update", f"line {line}")


def training(updates, pulses=(), steps=100):
    """One network of two weights, trained by one optimizer."""
    parameters = {
        key: Parameter(key, f"net.{key}.weight", "net", (8, 8), made=(at(10 + key),), used=True, trained=True)
        for key in (FIRST, LAST)
    }
    optimizer = Optimizer(1, "opt", "Adam", at(20), frozenset((FIRST, LAST)), steps=steps, clears=steps)
    return Evidence(
        parameters=parameters,
        optimizers={1: optimizer},
        updates=tuple(updates),
        pulses={1: tuple(pulses)},
        complete=True,
    )


def update(number=1, value=1.0, ops=None, **figures):
    """An update whose loss is ``relu(first) @ last``."""
    flow = Flow(
        ops
        or {
            1: operation(1, "parameter", carries=True, parameter=FIRST),
            2: operation(2, "parameter", carries=True, parameter=LAST),
            3: operation(3, "linear", (1,), True, at(30), shape=(4, 8), values=ONE),
            4: operation(4, "relu", (3,), True, at(31), shape=(4, 8), values=figures.pop("relu", ONE)),
            5: operation(5, "linear", (4, 2), True, at(32), shape=(4, 8), values=ONE),
            6: operation(6, "mean", (5,), True, at(33), shape=()),
        }
    )
    root = max(flow.ops)
    reached = frozenset((FIRST, LAST))
    backward = Backward(
        number, at(34), (root,), flow, reached, applied=reached, follower=1, time=10 * number, value=value
    )
    figures.setdefault("largest", {FIRST: 0.1, LAST: 0.1})
    zero = frozenset(k for k, v in figures["largest"].items() if v == 0)
    return Update(1, number, at(35), frozenset(), zero, (backward,), time=10 * number + 1, **figures)


def found(evidence):
    return [(c.rule, c.site.line, [p.key for p in c.subjects]) for c in causes(Situation(evidence))]


def test_a_healthy_training_is_silent():
    assert found(training([update(n) for n in range(1, 7)])) == []


def test_a_dead_relu_is_found_where_it_is_applied():
    dead = {"relu": ZERO, "largest": {FIRST: 0.0, LAST: 0.0}}
    assert found(training([update(n, **dead) for n in range(1, 4)]))[0][:1] == ("zero-gradient",)


def test_one_update_without_gradient_is_life():
    sick = update(1, relu=ZERO, largest={FIRST: 0.0, LAST: 0.0})
    assert found(training([sick, update(2), update(3), update(4)])) == []


def test_a_zero_factor_is_traced_to_the_line_that_made_it():
    def ops():
        return {
            1: operation(1, "parameter", carries=True, parameter=FIRST),
            2: operation(2, "data", fresh=True, site=at(28), shape=(4,), values=ONE),
            3: operation(3, "sub", (2, 2), site=at(29), shape=(4,), values=ZERO),
            4: operation(4, "truediv", (3,), site=at(30), shape=(4,), values=ZERO),
            5: operation(5, "log_softmax", (1,), True, at(31), shape=(4,), values=ONE),
            6: operation(6, "mul", (5, 4), True, at(32), shape=(4,), values=ZERO),
            7: operation(7, "mean", (6,), True, at(33)),
            8: operation(8, "neg", (7,), True, at(33)),
        }

    figures = {"largest": {FIRST: 0.0, LAST: 0.1}}
    evidence = training([update(n, ops=ops(), **figures) for n in range(1, 4)])
    assert found(evidence) == [("zero-gradient", 29, [FIRST])]
    [cause] = causes(Situation(evidence))
    assert (cause.how, cause.multiplied.line, cause.chain[1].mark) == ("factor", 32, Mark.FLAT)


def limited(op, went_in, **more):
    """A prediction that goes through one more operation on its way to the loss."""
    return {
        1: operation(1, "parameter", carries=True, parameter=FIRST),
        2: operation(2, "data", fresh=True, site=at(28), shape=(4,), values=Values(50.0, 50.0, 50.0)),
        3: operation(3, "linear", (1,), True, at(30), shape=(4,), values=went_in),
        4: operation(4, op, (3, 2), True, at(31), shape=(4,), values=Values(50.0, 60.0, 50.0), **more),
        5: operation(5, "mean", (4,), True, at(33)),
    }


@pytest.mark.parametrize(
    ("op", "went_in", "more", "how"),
    [
        ("clamp", Values(-1.0, 1.0), {}, "bound"),
        ("maximum", Values(-1.0, 1.0), {}, "bound"),
        ("clamp", Values(-1.0, 55.0), {}, None),  # some of it may be within
        ("mul", Values(-1.0, 55.0), {"numbers": (0.0,)}, "number"),
        ("mul", Values(-1.0, 55.0), {"numbers": (2.0,)}, None),
    ],
)
def test_a_limit_that_is_always_reached_and_a_coefficient_of_zero(op, went_in, more, how):
    figures = {"largest": {FIRST: 0.0, LAST: 0.1}}
    evidence = training([update(n, ops=limited(op, went_in, **more), **figures) for n in range(1, 4)])
    [cause] = causes(Situation(evidence))
    assert (cause.rule, getattr(cause, "how", None)) == ("zero-gradient" if how else "unexplained", how)
    assert not how or cause.site.line == 31


def test_a_relu_that_dies_in_the_middle_is_a_warning():
    sick = [update(n, relu=ZERO, largest={FIRST: 0.0, LAST: 0.0}) for n in (40, 60, 80)]
    [cause] = causes(Situation(training([update(1), update(20), *sick])))
    assert (cause.rule, cause.how, cause.since, cause.severity) == ("zero-gradient", "relu", 40, "warning")


def test_a_relu_that_comes_back_is_life():
    sick = [update(n, relu=ZERO, largest={FIRST: 0.0, LAST: 0.0}) for n in (40, 60, 80)]
    assert found(training([update(1), *sick, update(90)])) == []


def test_a_logarithm_whose_result_was_gone_before_anybody_looked():
    ops = {
        1: operation(1, "parameter", carries=True, parameter=FIRST),
        2: operation(2, "log", (1,), True, at(30), shape=(4,), time=1),
        3: operation(3, "sum", (2,), True, at(31), shape=(), values=Values(nan, nan), time=2),
        4: operation(4, "mean", (3,), True, at(33), values=Values(nan, nan), time=3),
    }
    [cause] = causes(Situation(training([update(1, value=nan, ops=ops)])))
    assert (cause.rule, cause.op, cause.site.line, cause.confidence) == ("non-finite", "log", 30, "likely")


@pytest.mark.parametrize(("size", "faulty"), [((4, 1), True), ((4, 2), False)])
def test_a_softmax_over_one_element(size, faulty):
    def ops():
        return {
            1: operation(1, "parameter", carries=True, parameter=FIRST),
            2: operation(2, "linear", (1,), True, at(30), shape=size),
            3: operation(3, "softmax", (2,), True, at(31), shape=size, axes=(len(size) - 1,)),
            4: operation(4, "mean", (3,), True, at(33)),
        }

    assert bool(found(training([update(1, ops=ops())]))) is faulty


def test_softmax_over_time_is_attention():
    ops = {
        1: operation(1, "parameter", carries=True, parameter=FIRST),
        2: operation(2, "linear", (1,), True, at(30), shape=(4, 7, 1)),
        3: operation(3, "softmax", (2,), True, at(31), shape=(4, 7, 1), numbers=(1.0,)),
        4: operation(4, "mean", (3,), True, at(33)),
    }
    assert found(training([update(1, ops=ops)])) == []


def test_the_first_operation_that_is_not_finite():
    ops = {
        1: operation(1, "parameter", carries=True, parameter=FIRST, values=ONE),
        2: operation(2, "linear", (1,), True, at(30), time=2, values=ONE),
        3: operation(3, "log", (2,), True, at(31), time=3, values=Values(-inf, 0.0)),
        4: operation(4, "mul", (3,), True, at(32), time=4, values=Values(nan, nan)),
        5: operation(5, "mean", (4,), True, at(33), time=5, values=Values(nan, nan)),
    }
    [cause, *_] = causes(Situation(training([update(1, value=nan, ops=ops)])))
    assert (cause.rule, cause.site.line, cause.op, cause.gradient) == ("non-finite", 31, "log", False)
    assert [step.mark for step in cause.chain] == [Mark.BROKEN, Mark.NONE, Mark.NONE]


def test_a_gradient_breaks_before_the_loss_does():
    ops = {
        1: operation(1, "parameter", carries=True, parameter=FIRST),
        2: operation(2, "sqrt", (1,), True, at(31)),
        3: operation(3, "mean", (2,), True, at(33)),
    }
    first = update(1, ops=ops, largest={FIRST: nan, LAST: 0.1})
    second = update(2, value=nan, ops=ops, largest={FIRST: nan, LAST: nan})
    assert found(training([first, second]))[0][:2] == ("non-finite", 31)


def test_a_late_nan_is_reported_with_its_update():
    pulses = [Pulse(64, {FIRST: 0.1}), Pulse(128, {FIRST: nan})]
    [cause] = causes(Situation(training([update(1)], pulses)))
    assert (cause.rule, cause.first_update, cause.recorded) == ("non-finite", 128, False)


def test_vanishing_needs_both_thresholds():
    tiny = {FIRST: 1e-10, LAST: 0.1}
    assert found(training([update(n, largest=tiny) for n in range(1, 4)])) == [("vanishing", 11, [FIRST])]
    small = {FIRST: 1e-7, LAST: 0.1}  # small beside the other, and Adam makes up for it
    assert found(training([update(n, largest=small) for n in range(1, 4)])) == []
    both = {FIRST: 1e-10, LAST: 1e-9}  # the loss is small altogether: it has converged
    assert found(training([update(n, largest=both) for n in range(1, 4)])) == []


def test_a_bias_that_cannot_matter_does_not_vanish():
    """The keys of an attention have one: their kernel learns, and softmax takes a constant away again."""
    known = training([update(n, largest={FIRST: 1e-10, LAST: 0.1}) for n in range(1, 4)])
    names = {FIRST: "net.keys.bias", LAST: "net.keys.kernel"}
    together = {k: replace(p, name=names[k]) for k, p in known.parameters.items()}
    assert found(replace(known, parameters=together)) == []


def test_exploding_is_ten_thousand_times_not_a_hundred():
    def run(factor):
        grown = [Pulse(64 * n, {FIRST: min(factor, 2.0**n), LAST: 0.1}) for n in range(40)]
        return [rule for rule, *_ in found(training([update(1, largest={FIRST: 1.0, LAST: 0.1})], grown))]

    assert run(1e7) == ["exploding"]
    assert run(500.0) == []


def test_steps_that_float32_rounds_away():
    def run(change):
        moved = {FIRST: Moved(change, 5.0), LAST: Moved(change, 5.0)}
        return [rule for rule, *_ in found(training([update(n, moved=moved) for n in range(1, 5)]))]

    assert run(1e-12) == ["stalled"]
    assert run(50.0) == ["stalled"]
    assert run(1e-3) == []


def test_steps_that_change_nothing_any_more():
    """A schedule that has ended, where the gradient is what it was; not one that ends with the training."""

    def run(changes, sizes=None):
        steps = [{FIRST: Moved(c, 5.0), LAST: Moved(c, 5.0)} for c in changes]
        sizes = sizes or [0.1] * len(steps)
        updates = [
            update(n, moved=moved, largest={FIRST: size, LAST: size})
            for n, (moved, size) in enumerate(zip(steps, sizes, strict=True), 1)
        ]
        return [
            cause.since for cause in causes(Situation(training(updates, steps=6))) if cause.rule == "stalled"
        ]

    assert run([1e-3, 1e-3, 0.0, 0.0, 0.0, 0.0]) == [3]
    assert run([1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 0.0]) == []
    assert run([1e-3, 0.0, 0.0, 1e-3, 1e-3, 1e-3]) == []
    assert run([1e-3, 1e-3, 0.0, 0.0, 0.0, 0.0], [0.1, 0.1, 1e-9, 1e-9, 1e-9, 1e-9]) == []


def test_steps_are_measured_by_the_weights():
    moved = {FIRST: Moved(50.0, 5.0), LAST: Moved(50.0, 5.0)}
    [cause] = causes(Situation(training([update(n, moved=moved) for n in range(1, 5)])))
    assert (cause.over, cause.ratio) == (True, 10.0)
    assert [(step.site.line, step.mark) for step in cause.chain] == [(20, Mark.HERE), (35, Mark.NONE)]


def test_oscillating_only_if_the_loss_does_not_fall():
    def run(turned, losses):
        updates = [update(n, value=loss, turned=turned) for n, loss in enumerate(losses, 1)]
        return [rule for rule, *_ in found(training(updates))]

    assert run(-0.99, [1.0, 1.1, 1.0, 1.1, 1.0, 1.1]) == ["oscillating"]
    assert run(-0.99, [1.0, 0.8, 0.6, 0.5, 0.4, 0.3]) == []
    assert run(0.2, [1.0, 1.1, 1.0, 1.1, 1.0, 1.1]) == []
