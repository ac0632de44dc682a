"""``with whygrad.watching() as run``."""

from __future__ import annotations

import gc
import json
import linecache
import subprocess
import sys
import traceback
import weakref

import pytest
import torch
from torch import nn

import whygrad
from whygrad.api import current
from whygrad.cli.run_directories import judged
from whygrad.reporters import html_report, json_report


def line_with(text):
    """The line of this file that contains a text, once."""
    (line,) = [n for n, code in enumerate(linecache.getlines(__file__), 1) if code.rstrip().endswith(text)]
    return line


def train(actor, critic, act, optimizer=None, steps=3):
    """A few updates of the actor through the critic."""
    optimizer = optimizer or torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(steps):
        state = torch.randn(4, 3)
        loss = -critic(torch.cat([state, act(actor, state)], 1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def living(actor, state):
    return actor(state)


def cut(actor, state):
    return actor(state).detach()  # the cut


def test_a_cut_is_found_with_names_and_line(nets, untouched):
    # GIVEN networks that were made before the block
    actor, critic = nets
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    # WHEN a block trains them
    with whygrad.watching() as run:
        train(actor, critic, cut)
        critic_opt.step()
    # THEN the finding has the names of this function and the line of the cut
    (finding,) = run.findings
    assert finding.rule == "detached"
    assert finding.subjects == ("actor.0.weight", "actor.0.bias", "actor.2.weight", "actor.2.bias")
    assert (finding.site.file, finding.site.line) == (__file__, line_with("# the cut"))
    assert not run.healthy
    assert run.result.updates[0].count == 3
    assert "error[detached] actor gets no gradient" in run.report()
    assert str(run) == run.report()
    assert "error[detached]" in run._repr_html_() and "<code>" in run.findings._repr_html_()
    assert "1 error in " in repr(run) and "test_watching.py" in repr(run)


def test_a_healthy_block_says_why(nets, untouched):
    actor, critic = nets
    with whygrad.watching() as run:
        train(actor, critic, living)
    assert run.healthy and not run.findings
    assert "actor learns from the loss" in run.report()
    assert "actor learns from the loss" in str(run.findings)
    assert [note for note in run.result.notes if note.kind == "internal"] == []


def test_a_healthy_dqn_made_before_the_block_is_silent():
    online, target = nn.Linear(3, 2), nn.Linear(3, 2)
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.Adam(online.parameters())
    with whygrad.watching() as run:
        for _ in range(4):
            state = torch.randn(8, 3)
            q = online(state).gather(1, torch.zeros(8, 1, dtype=torch.long))
            with torch.no_grad():
                goal = 1 + 0.9 * target(state).max(1, keepdim=True).values
            loss = nn.functional.mse_loss(q, goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert run.healthy, run.report()


def test_inside_of_the_block_it_says_what_was_found_so_far(nets):
    actor, critic = nets
    optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
    with whygrad.watching() as run:
        assert run.healthy
        train(actor, critic, living, optimizer)
        assert [u.count for u in run.result.updates] == [3]
        train(actor, critic, living, optimizer)
    assert [u.count for u in run.result.updates] == [6]


def test_the_same_bits(nets):
    actor, critic = nets
    state = torch.get_rng_state()
    start = {name: value.clone() for name, value in actor.state_dict().items()}
    train(actor, critic, living)
    alone, after = [p.clone() for p in actor.parameters()], torch.get_rng_state()
    actor.load_state_dict(start)
    torch.set_rng_state(state)
    with whygrad.watching():
        train(actor, critic, living)
    assert all(torch.equal(a, b) for a, b in zip(alone, actor.parameters(), strict=True))
    assert torch.equal(after, torch.get_rng_state())


# -- exceptions -----------------------------------------------------------------------------------


def test_an_exception_passes_through_with_a_note(nets, untouched):
    # GIVEN a loss without any gradient
    actor, _ = nets
    with pytest.raises(RuntimeError, match="does not require grad") as caught, whygrad.watching() as run:
        optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
        loss = cut(actor, torch.randn(4, 3)).mean()
        loss.backward()
        optimizer.step()
    # THEN the finding is there, and the exception has its first sentence
    (finding,) = run.findings
    assert finding.rule == "detached"
    (note,) = caught.value.__notes__
    assert note.startswith(f"whygrad: {finding.title} (")
    assert note.endswith(f"test_watching.py:{line_with('# the cut')})")
    assert run.result.exception.type == "RuntimeError"
    assert run.result.exception.site.code == "loss.backward()"
    # AND its traceback shows nothing of ours
    text = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "whygrad/api" not in text and "whygrad/frameworks" not in text
    assert "loss.backward()" in text


def test_the_very_same_exception_comes_out(untouched):
    error = ValueError("mine")
    with pytest.raises(ValueError) as caught, whygrad.watching() as run:
        raise error
    assert caught.value is error
    assert not hasattr(error, "__notes__")
    assert run.healthy


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_what_ends_a_program_gets_no_note(nets, untouched, error):
    with pytest.raises(type(error)) as caught, whygrad.watching():
        train(*nets, cut, steps=1)
        raise error
    assert caught.value is error
    assert not hasattr(error, "__notes__")


# -- one recording at a time ----------------------------------------------------------------------


def test_a_block_in_a_block_shares_the_recording(nets, untouched):
    actor, critic = nets
    optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
    with whygrad.watching() as outer:
        train(actor, critic, living, optimizer)
        with whygrad.watching() as inner:
            train(actor, critic, living, optimizer)
        assert "there is only one" in inner.result.notes[0].text
        train(actor, critic, living, optimizer)
    # THEN the inner one has what was seen until its end, and the outer one lost nothing
    assert [u.count for u in inner.result.updates] == [6]
    assert [u.count for u in outer.result.updates] == [9]
    assert [u.recorded for u in outer.result.updates] == [u.recorded for u in inner.result.updates] == [6]
    assert outer.result.notes == ()


def test_an_exception_between_two_blocks(nets, untouched):
    with whygrad.watching() as outer:
        with pytest.raises(ZeroDivisionError), whygrad.watching() as inner:
            _ = 1 / 0
        train(*nets, living)
    assert inner.result.exception.type == "ZeroDivisionError"
    assert outer.result.exception is None
    assert outer.result.updates[0].recorded == 3


def test_a_block_can_be_used_once(untouched):
    block = whygrad.watching()
    assert "has not begun" in block.result.notes[0].text
    with block:
        pass
    with pytest.raises(RuntimeError, match=r"call whygrad\.watching\(\) once more"), block:
        pass


def test_blocks_one_after_the_other(nets, untouched):
    for _ in range(3):
        with whygrad.watching() as run:
            train(*nets, living, steps=2)
        assert [u.count for u in run.result.updates] == [2]
    assert current.registry() is None


def test_nothing_is_kept_alive(nets):
    with whygrad.watching() as run:
        train(*nets, living)
    backend = run._registry._backends["torch"]
    gone = weakref.ref(backend.observer)
    del backend, run
    gc.collect()
    assert gone() is None


# -- files and processes --------------------------------------------------------------------------


def test_the_report_is_written(nets, tmp_path):
    with whygrad.watching(out=tmp_path / "new" / "run"):
        train(*nets, living)
    report = json.loads((tmp_path / "new" / "run" / "report.json").read_text())
    assert report["format"] == 1 and report["healthy"]
    assert report["updates"][0]["count"] == 3


def test_a_block_has_everything_that_a_run_has(nets, tmp_path):
    # GIVEN a block that keeps its run
    actor, critic = nets
    with whygrad.watching(out=tmp_path) as run:
        train(actor, critic, cut)
    # THEN there is a picture, the source around the findings, and when and where it was
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["drawing"]["losses"] and report["drawing"]["wires"]
    assert report["sources"] and report["started"] and report["pid"] and report["host"]
    # AND it can be judged again
    again = judged(str(tmp_path))
    with again.reading():
        assert json.loads(json_report.render(again.run)) == report
        assert "No picture" not in html_report.render(again.run)
    assert again.run.findings[0].title == run.findings[0].title


def test_a_report_that_cannot_be_written_is_a_note(tmp_path):
    with whygrad.watching(out=tmp_path) as run:
        (tmp_path / "report.json").mkdir()
    assert "report.json could not be written" in run.result.notes[-1].text
    (tmp_path / "other").mkdir()
    with whygrad.watching(out=tmp_path / "other") as run:
        (tmp_path / "other" / "evidence.wg").mkdir()
    assert "evidence.wg could not be written" in run.result.notes[-1].text


SCRIPT = """
import whygrad
with whygrad.watching() as run:
    import torch
    net = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        loss = net(torch.ones(1, 3)).detach().sum().requires_grad_()
        loss.backward()
        optimizer.step()
print(*(f"{f.rule}:{f.site.line}" for f in run.findings))
print(len(run.result.notes), whygrad.explain(net(torch.ones(1, 3)).sum(), net) == ())
"""


def test_a_framework_that_is_imported_in_the_block(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["detached:8 fake-root:8", "0 True"], done.stderr


def test_inside_of_whygrad_run(tmp_path):
    # GIVEN the same script under the command: one recording, one sentence, and both see all
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "whygrad", "run", "--out", "out", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["detached:8 fake-root:8", "1 True"], done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [f["rule"] for f in report["findings"]] == ["detached", "fake-root"]
    assert report["updates"][0]["count"] == 3
