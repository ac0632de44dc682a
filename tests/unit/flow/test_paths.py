"""From a parameter to the loss."""

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.paths import Reach, ancestors
from whygrad.model import Flow


@pytest.fixture
def run():
    return Build()


def path_of(run, root, network, since=0):
    reach = Reach(Flow(run.ops), [root], since)
    return reach.path(min(network.keys))


def test_a_living_way(run):
    # GIVEN a loss of what the actor computes
    actor = run.network("actor")
    loss = run.op("mean", run.call(actor, line=3), line=4)
    # WHEN we look for the way
    path = path_of(run, loss, actor)
    # THEN it lives, from the parameter to the loss
    assert path.living and path.cost == 0
    assert [op.name for op in path.ops] == ["parameter", "linear", "mean"]
    assert Reach(Flow(run.ops), [loss]).living() == actor.keys


def test_a_cut_is_where_gradient_was_carried_and_no_longer_is(run):
    actor = run.network("actor")
    cut = run.op("detach", run.call(actor), carries=False)
    loss = run.op("mean", run.op("mul", cut, run.data()))
    path = path_of(run, loss, actor)
    assert [path.ops[at].name for at in path.cuts] == ["detach"]
    assert not path.living


def test_a_flat_operation_cuts_although_it_carries(run):
    actor = run.network("actor")
    path = path_of(run, run.op("mean", run.op("round", run.call(actor))), actor)
    assert [path.ops[at].name for at in path.cuts] == ["round"]


def test_the_straight_through_form_lives(run):
    actor = run.network("actor")
    x = run.call(actor)
    flat = run.op("detach", run.op("sub", run.op("round", x), x), carries=False)
    assert path_of(run, run.op("mean", run.op("add", x, flat)), actor).living


def test_of_several_ways_the_one_with_the_fewest_cuts(run):
    # GIVEN an actor that reaches the loss through two cuts, and through one
    actor = run.network("actor")
    once = run.op("argmax", run.call(actor, line=5), line=5, carries=False, floating=False)
    twice = run.op("round", run.op("detach", run.call(actor, line=6), line=6, carries=False), line=7)
    loss = run.op("mean", run.op("cat", twice, once))
    # THEN the single cut explains it
    path = path_of(run, loss, actor)
    assert [path.ops[at].name for at in path.cuts] == ["argmax"]


def test_a_cut_of_this_update_tells_more_than_an_old_one(run):
    actor = run.network("actor")
    old = run.op("detach", run.call(actor), line=5, carries=False)
    step = max(run.ops)
    new = run.op("data", run.call(actor), line=9, carries=False)
    loss = run.op("mean", run.op("cat", old, new))
    path = path_of(run, loss, actor, since=step)
    assert path.ops[path.cuts[0]].site.line == 9


def test_what_left_under_no_grad_is_data(run):
    actor = run.network("actor")
    out = run.op("numpy", run.call(actor, **run.no_grad(4)), left=True, **run.no_grad(4))
    loss = run.op("mean", run.op("tensor", out, fresh=True, via="memory"))
    assert path_of(run, loss, actor).through_data


def test_no_way_at_all(run):
    actor, critic = run.network("actor"), run.network("critic")
    assert path_of(run, run.op("mean", run.call(critic)), actor) is None


def test_roots_that_are_not_in_the_flow_are_left_out(run):
    assert Reach(Flow(run.ops), [99]).parameters == {}


def test_ancestors_include_the_value_itself(run):
    x = run.data()
    y = run.op("exp", x)
    run.data()
    assert ancestors(Flow(run.ops), y) == {x, y}
