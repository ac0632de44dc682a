"""A report while the script runs: nobody notices, and a run that is killed leaves its findings behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from whygrad.reporters import json_report
from whygrad.summaries import history

HERE = Path(__file__).parent

#: The actor is cut off; it says when a few updates are done, and goes on until it is killed.
ENDLESS = """
import torch
actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(2, 1)
actor_opt = torch.optim.SGD(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.SGD(critic.parameters(), lr=1e-3)
update = 0
while True:
    action = actor(torch.ones(8, 4)).detach()
    loss = -critic(action).mean()
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    loss.backward()
    actor_opt.step()
    critic_opt.step()
    update += 1
    if update == 20:
        print("ready", flush=True)
"""

ENDLESS_TENSORFLOW = """
import tensorflow as tf
w, v = tf.Variable(tf.ones((4, 2))), tf.Variable(tf.ones((2, 1)))
optimizer = tf.keras.optimizers.SGD(1e-3)
@tf.function
def update(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.stop_gradient(x @ w) @ v)
    gradients = tape.gradient(loss, [w, v])
    optimizer.apply_gradients([(g, x) for g, x in zip(gradients, [w, v]) if g is not None])
    return loss
number = 0
while True:
    update(tf.ones((8, 4)))
    number += 1
    if number == 20:
        print("ready", flush=True)
"""


def killed(lab, *options: str) -> tuple[Path, str]:
    """Run it until its finding is told, look at the list of runs, and kill it: run directory, and what was said."""
    told = ("--notify", "cat > part && mv part told.json")
    command = [sys.executable, "-m", "whygrad", "run", *told, *options, "train.py"]
    process = subprocess.Popen(
        command, cwd=lab.folder, env=lab.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        end = time.monotonic() + 300
        while not (lab.folder / "told.json").exists():
            assert time.monotonic() < end, "no finding was told while the script ran"
            assert process.poll() is None
            time.sleep(0.1)
        assert "still running" in lab.whygrad("runs").stdout
    finally:
        process.send_signal(signal.SIGKILL)
        _, said = process.communicate()
    (report,) = lab.folder.glob("runs/*/report.json")
    return report.parent, said


@pytest.mark.torch
@pytest.mark.parametrize(
    "options", [(), pytest.param(("--every", "5"), marks=pytest.mark.long)], ids=["plain", "watch"]
)
def test_a_killed_run_leaves_its_findings(lab, options):
    lab.write(ENDLESS)
    folder, said = killed(lab, *options)
    assert said == "\nwhygrad: train.py:7: error[detached]: actor gets no gradient: cut by .detach()\n"
    told = json.loads((lab.folder / "told.json").read_text())
    assert (told["rule"], told["site"]["line"], told["script"]) == ("detached", 7, "train.py")
    assert Path(told["run"]).samefile(folder)
    run = json_report.parse((folder / "report.json").read_text())
    again = lab.whygrad("judge", str(folder), "--json", "-")
    assert (again.code, json_report.parse(again.stdout)) == (1, run)
    assert not run.finished
    assert run.pid and run.host and run.started
    (found,) = [f for f in run.findings if f.rule == "detached"]
    assert found.site.line == 7
    assert [u.optimizer for u in run.updates] == ["actor_opt", "critic_opt"]
    assert not [note for note in run.notes if note.kind == "internal"]
    listed = lab.whygrad("runs").stdout.splitlines()
    assert len(listed) == 2
    assert "killed" in listed[1] and "1 error: detached, line 7" in listed[1]
    (data,) = json.loads(lab.whygrad("runs", "--json").stdout)
    assert (data["ended"], data["errors"], data["first"]["line"]) == ("killed", 1, 7)
    if options:
        names = {series.variable for series in history.load(folder / "watch.history")}
        assert {"actor.weight", "critic.weight"} <= names
        assert run.watched.updates > 0
    else:
        assert not (folder / "watch.history").exists()


@pytest.mark.long
@pytest.mark.tensorflow
def test_a_killed_run_of_compiled_tensorflow(lab):
    lab.write(ENDLESS_TENSORFLOW)
    folder, said = killed(lab)
    assert "train.py:7: error[detached]: " in said
    run = json_report.parse((folder / "report.json").read_text())
    assert not run.finished
    assert [(f.rule, f.site.line) for f in run.findings][:1] == [("detached", 7)]
    assert run.updates[0].count >= 5
    assert not [note for note in run.notes if note.kind == "internal"]


def judged(folder: Path) -> dict:
    """What a report says, but for what every run has of its own."""
    data = json.loads((folder / "report.json").read_text())
    for key in ("seconds", "started", "pid", "watched", "argv"):
        del data[key]
    return data


def shown(lab, script: str, argument: str, *options: str) -> None:
    """With a report after nearly every step: the same weights, output and final report as without."""
    shutil.copy(HERE / "scripts" / script, lab.folder / "train.py")
    alone = lab.python("train.py", argument)
    weights = (lab.folder / "weights.bin").read_bytes()
    lab.whygrad("run", "--quiet", *options, "--out", "once", "train.py", argument)
    watched = lab.do(
        sys.executable,
        str(HERE / "eager.py"),
        *("run", "--quiet", *options, "--out", "often", "train.py", argument),
    )
    assert watched == alone
    assert (lab.folder / "weights.bin").read_bytes() == weights
    assert int((lab.folder / "taken.txt").read_text()) >= 5
    often = judged(lab.folder / "often")
    assert often["finished"] is True
    assert often == judged(lab.folder / "once")
    assert not [note for note in often["notes"] if note["kind"] == "internal"]


@pytest.mark.forked("torch")
@pytest.mark.torch
@pytest.mark.parametrize(
    "options", [(), pytest.param(("--every", "7"), marks=pytest.mark.long)], ids=["plain", "watch"]
)
def test_looking_changes_nothing_in_torch(lab, options):
    shown(lab, "dqn.py", "400", *options)


@pytest.mark.long
@pytest.mark.forked("torch")
@pytest.mark.torch
def test_looking_changes_nothing_where_a_thread_trains(lab):
    shown(lab, "actor_critic.py", "--thread")


@pytest.mark.forked("torch")
@pytest.mark.torch
def test_no_step_is_lost_while_one_of_three_threads_is_looked_at(lab):
    lab.write("""
        import threading, torch
        kept = []
        def train():
            for _ in range(8):
                net = torch.nn.Linear(4, 1)
                optimizer = torch.optim.Adam(net.parameters())
                kept.append((net, optimizer))
                for _ in range(25):
                    loss = net(torch.ones(8, 4)).pow(2).mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
        threads = [threading.Thread(target=train) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """)
    done = lab.do(sys.executable, str(HERE / "eager.py"), "run", "--quiet", "--out", "often", "train.py")
    assert (done.code, done.stderr) == (0, "")
    assert int((lab.folder / "taken.txt").read_text()) >= 3
    report = judged(lab.folder / "often")
    assert [update["count"] for update in report["updates"]] == [25] * 24
    assert not [note for note in report["notes"] if note["kind"] == "internal"]


@pytest.mark.forked("tensorflow")
@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "options", [("eager",), pytest.param(("xla", "--every", "7"), marks=pytest.mark.long)], ids=lambda o: o[0]
)
def test_looking_changes_nothing_in_tensorflow(lab, options):
    shown(lab, "dqn_tf.py", *options)


def test_nobody_meets_the_thread(lab):
    source = """
        import glob, threading, time, fakeframe
        for _ in range(100):
            fakeframe.step()
            time.sleep(0.01)
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join()
        print(len(glob.glob("runs/*/report.json")))
        print(threading.active_count(), [t.name for t in threading.enumerate()])
    """
    lab.write(source)
    done = lab.fake("run", "--quiet", "train.py", first="0.05")
    assert done.stdout == "1\n1 ['MainThread']\n"


def test_a_short_script_gets_one_report_at_its_end(lab):
    lab.write("import fakeframe, glob\nfakeframe.step()\nprint(glob.glob('runs/*'))\n")
    done = lab.fake("run", "--quiet", "train.py")
    assert done.stdout == "[]\n"
    (report,) = lab.folder.glob("runs/*/report.json")
    assert json.loads(report.read_text())["finished"] is True


def test_a_script_without_a_framework_makes_no_directory(lab):
    lab.write("import time\nprint('done')\n")
    assert lab.whygrad("run", "train.py").stdout == "done\n"
    assert not (lab.folder / "runs").exists()


def test_a_failure_of_ours_is_not_the_scripts(lab):
    lab.write("""
        import time, fakeframe
        for _ in range(50):
            fakeframe.step()
            time.sleep(0.01)
        print('done')
    """)
    done = lab.fake("run", "--quiet", "train.py", fail="peek", first="0.01")
    assert (done.stdout, done.stderr, done.code) == ("done\n", "", 0)
    (report,) = lab.folder.glob("runs/*/report.json")
    assert json.loads(report.read_text())["finished"] is True


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_keeps_no_report(lab):
    source = """
        import os, sys, time, fakeframe
        fakeframe.step()
        if os.fork() == 0:
            for _ in range(50):
                fakeframe.step()
                time.sleep(0.01)
            os._exit(0)
        os.wait()
        print(os.path.exists("runs"))
    """
    lab.write(source)
    assert lab.fake("run", "--quiet", "train.py", first="0.05").stdout == "False\n"
