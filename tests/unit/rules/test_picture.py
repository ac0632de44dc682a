"""Roles and certificates: what networks are, and what is right."""

import pytest
from tests.unit.flow.build import Build

from whygrad.diagnosis import picture
from whygrad.flow.situation import Situation


@pytest.fixture
def run():
    return Build()


def dqn(run, cut):
    """A DQN whose target is cut by ``detach`` or by a ``no_grad`` block."""
    q, target = run.network("q"), run.network("target")
    optimizer = run.optimizer("opt", q)
    for _ in range(2):
        block = run.no_grad(9) if cut == "no_grad" else {}
        ahead = run.call(target, line=10, **block)
        if cut == "detach":
            ahead = run.op("detach", ahead, line=11, carries=False)
        goal = run.op("add", run.data(), run.op("mul", ahead, line=12, numbers=(0.9,)), line=12)
        loss = run.op("mse_loss", run.call(q, line=13), goal, line=14)
        run.update(optimizer, run.backward(loss, line=20))
    run.copy(q, target, line=30)
    return run.evidence()


@pytest.mark.parametrize(
    ("cut", "what"), [("detach", "`.detach()` at train.py:11"), ("no_grad", "at train.py:9")]
)
def test_the_cut_of_a_target_is_right(run, cut, what):
    (note,) = picture(Situation(dqn(run, cut)), healthy=True).certificates
    assert note.kind == "certificate" and what in note.text
    assert "the target must not be differentiated; q still learns from the loss at train.py:14" in note.text


def test_nothing_is_right_while_something_is_wrong(run):
    assert picture(Situation(dqn(run, "detach")), healthy=False).certificates == ()


def test_online_and_target_are_known_by_what_they_do(run):
    roles = {role.network: role for role in picture(Situation(dqn(run, "no_grad")), healthy=True).roles}
    assert (roles["q"].role, roles["target"].role) == ("critic", "target")
    assert "copied from q at train.py:30" in roles["target"].why


def test_actor_critic_and_trunk(run):
    trunk, pi, v = run.network("trunk"), run.network("pi"), run.network("v")
    optimizer = run.optimizer("opt", trunk, pi, v)
    for _ in range(2):
        features = run.call(trunk, line=5)
        score = run.op("log_softmax", run.call(pi, features, line=6), line=6)
        ahead = run.op("detach", run.call(v, run.data(), line=7), line=7, carries=False)
        goal = run.op("add", run.data(), run.op("mul", ahead, line=8, numbers=(0.9,)), line=8)
        delta = run.op("sub", goal, run.call(v, features, line=9), line=9)
        weight = run.op("detach", delta, line=10, carries=False)
        policy = run.op("neg", run.op("mean", run.op("mul", score, weight, line=10), line=10), line=10)
        value = run.op("mean", run.op("pow", delta, line=11, numbers=(2.0,)), line=11)
        run.update(optimizer, run.backward(run.op("add", policy, value, line=12), line=13))
    found = picture(Situation(run.evidence()), healthy=True)
    assert {r.network: r.role for r in found.roles} == {"trunk": "trunk", "pi": "actor", "v": "critic"}
    texts = " ".join(note.text for note in found.certificates)
    assert "`.detach()` at train.py:10 is right: the policy loss must not train the value" in texts


def test_accumulation_is_recognised(run):
    net = run.network("net")
    optimizer = run.optimizer("opt", net, clears=4)
    for _ in range(2):
        losses = [run.op("mean", run.call(net, line=5), line=6) for _ in range(3)]
        run.update(optimizer, *(run.backward(loss, line=7) for loss in losses))
    (note,) = picture(Situation(run.evidence()), healthy=True).certificates
    assert "runs 3 times per step, which is right" in note.text
