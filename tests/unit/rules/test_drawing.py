"""The flow picture: who feeds whom, and where the way back is cut."""

import pytest
from tests.unit.flow.build import Build

from whygrad.diagnosis import picture
from whygrad.flow.situation import Situation


@pytest.fixture
def run():
    return Build()


def drawing(run):
    return picture(Situation(run.evidence()), healthy=True).drawing


def wires(found):
    """(from, to) -> how the gradient comes back."""
    return {
        (w.source, w.target or found.losses[w.loss].terms[w.term]): "carries"
        if w.carries
        else f"{w.cut.what} :{w.cut.site.line}"
        if w.cut
        else "nothing asks"
        for w in found.wires
    }


def test_a_cut_between_two_networks(run):
    actor, critic = run.network("actor"), run.network("critic")
    action = run.op("detach", run.call(actor, line=10), line=11, carries=False)
    loss = run.op("mean", run.call(critic, action, line=12), line=13)
    run.update(run.optimizer("actor_opt", actor), run.backward(loss, line=14))
    found = drawing(run)
    assert wires(found) == {("actor", "critic"): ".detach() :11", ("critic", "line 13"): "carries"}
    assert [layer.name for layer in found.layers] == ["actor", "critic"]
    assert found.losses[0].optimizers == ("actor_opt",)


def test_a_block_is_named_by_its_line(run):
    q, target = run.network("q"), run.network("target")
    ahead = run.call(target, line=10, **run.no_grad(9))
    loss = run.op("mse_loss", run.call(q, line=11), ahead, line=12)
    run.update(run.optimizer("opt", q), run.backward(loss, line=13))
    found = drawing(run)
    assert wires(found)["q", "line 12"] == "carries"
    assert wires(found)["target", "line 12"] == "linear :9"
    assert {w.block for w in found.wires if w.cut} == {"torch.no_grad()"}


def test_a_frozen_network_is_no_cut(run):
    q, target = run.network("q"), run.network("target", trainable=False)
    loss = run.op("mse_loss", run.call(q, line=11), run.call(target, line=10), line=12)
    run.update(run.optimizer("opt", q), run.backward(loss, line=13))
    assert wires(drawing(run))["target", "line 12"] == "nothing asks"


def test_terms_are_told_apart(run):
    pi, v = run.network("pi"), run.network("v")
    policy, value = (
        run.op("mean", run.call(pi, line=3), line=4),
        run.op("mse_loss", run.call(v, line=5), line=6),
    )
    loss = run.op("add", policy, value, line=7)
    run.update(run.optimizer("opt", pi, v), run.backward(loss, line=8))
    found = drawing(run)
    assert found.losses[0].terms == ("line 4", "line 6")
    assert set(wires(found)) == {("pi", "line 4"), ("v", "line 6")}


def test_replayed_data_is_no_wire(run):
    """What left under no_grad and came back is data: the picture does not pretend otherwise."""
    actor, critic = run.network("actor"), run.network("critic")
    out = run.call(actor, line=3, **run.no_grad(2))
    left = run.op(
        "numpy",
        out,
        line=4,
        carries=False,
        left=True,
        **{k: v for k, v in run.no_grad(2).items() if k == "block"},
    )
    back = run.op("tensor", left, line=5, carries=False, fresh=True)
    loss = run.op("mean", run.call(critic, back, line=6), line=7)
    run.update(run.optimizer("opt", critic), run.backward(loss, line=8))
    assert set(wires(drawing(run))) == {("critic", "line 7")}
