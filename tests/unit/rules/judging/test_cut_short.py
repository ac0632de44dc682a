"""Scripts that crash or are interrupted: nothing is concluded from the part that was not reached."""

from dataclasses import replace

import pytest

from whygrad.model import Crash

CRASH = Crash("missing", "KeyError", None)


@pytest.fixture
def script(run, tmp_path):
    """Writes the source of the script; ``train.py`` exists then."""

    def write(*lines):
        run.file = str(tmp_path / "train.py")
        (tmp_path / "train.py").write_text("\n".join(lines) + "\n")

    return write


def rules(judge, run, crash):
    return [cause.rule for cause in judge(run, crash)]


def critic_update(run, optimizer, encoder, critic, line):
    loss = run.op("mean", run.call(critic, run.call(encoder, line=4), line=4), line=4)
    run.update(optimizer, run.backward(loss, line=line))


@pytest.mark.parametrize(("crash", "found"), [(CRASH, []), (None, ["not-in-optimizer"])])
def test_an_optimizer_that_is_made_later(run, judge, script, crash, found):
    script(
        "encoder", "critic", "opt = torch.optim.Adam(critic)", "loss", "loss.backward()", "optim.SGD(encoder)"
    )
    encoder, critic = run.network("encoder", line=1), run.network("critic", line=2)
    optimizer = run.optimizer("opt", critic, line=3)
    for _ in range(3):
        critic_update(run, optimizer, encoder, critic, line=5)
    assert rules(judge, run, crash) == found


@pytest.mark.parametrize(("times", "found"), [(1, []), (3, ["not-in-optimizer"])])
def test_a_loop_that_has_come_round_shows_who_is_left_out(run, judge, script, times, found):
    script("encoder", "critic", "opt = torch.optim.Adam(critic)", "loss", "loss.backward()")
    encoder, critic = run.network("encoder", line=1), run.network("critic", line=2)
    optimizer = run.optimizer("opt", critic, line=3)
    for _ in range(times):
        critic_update(run, optimizer, encoder, critic, line=5)
    assert rules(judge, run, CRASH) == found


@pytest.mark.parametrize(
    ("times", "last", "crash", "found"),
    [
        (1, "pass", CRASH, []),
        (5, "actor_loss.backward()", CRASH, []),
        (5, "pass", CRASH, ["loss-independent"]),
        (5, "actor_loss.backward()", None, ["loss-independent"]),
        (120, "actor_loss.backward()", CRASH, ["loss-independent"]),
    ],
)
def test_a_loss_that_comes_later(run, judge, script, times, last, crash, found):
    script("actor", "critic", "opt = torch.optim.Adam(both)", "loss", "loss.backward()", last)
    actor, critic = run.network("actor", line=1, used=False), run.network("critic", line=2)
    optimizer = run.optimizer("opt", actor, critic, line=3)
    for _ in range(times):
        run.update(optimizer, run.backward(run.op("mean", run.call(critic, line=4), line=4), line=5))
    assert rules(judge, run, crash) == found


def test_a_step_on_nothing_at_all_is_not_too_early(run, judge, script):
    """``No gradients provided for any variable``: the optimizer's own loss is the one that was differentiated."""
    script("actor", "critic", "opt = torch.optim.Adam(actor)", "loss", "loss.backward()", "other.backward()")
    actor, critic = run.network("actor", line=1), run.network("critic", line=2)
    optimizer = run.optimizer("opt", actor, line=3)
    run.update(optimizer, run.backward(run.op("mean", run.call(critic, line=4), line=4), line=5))
    assert "loss-independent" in rules(judge, run, CRASH)


@pytest.mark.parametrize("rejected", [False, True])
def test_what_an_optimizer_has_refused_is_known_at_once(run, judge, script, rejected):
    script("actor", "critic", "opt = torch.optim.Adam(critic)", "loss", "loss.backward()")
    actor, critic = run.network("actor", line=1), run.network("critic", line=2)
    optimizer = run.optimizer("opt", critic, line=3)
    loss = run.op("mean", run.call(critic, run.call(actor, line=4), line=4), line=4)
    run.update(optimizer, run.backward(loss, line=5), rejected=actor.keys if rejected else frozenset())
    assert rules(judge, run, CRASH) == ["stale-optimizer"] * rejected


def test_a_first_step_that_was_refused_for_want_of_gradients(run, judge):
    """That is what ended the script: no later loss would have helped."""
    actor, critic = run.network("actor"), run.network("critic")
    optimizer = run.optimizer("opt", actor)
    action = run.op("detach", run.call(actor, line=10), line=10, carries=False)
    run.update(optimizer, run.backward(run.op("mean", run.call(critic, action, line=11), line=12), line=13))
    run.optimizers[optimizer.key] = replace(run.optimizers[optimizer.key], steps=0)
    assert rules(judge, run, CRASH) == ["detached"]
