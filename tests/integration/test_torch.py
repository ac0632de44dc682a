"""Real training with real torch: the same bits, the same words, the same end."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path

import pytest
from tests.choosing import mostly_long

SCRIPTS = Path(__file__).parent / "scripts"
pytestmark = pytest.mark.forked("torch")


def report(lab):
    return json.loads((lab.folder / "out" / "report.json").read_text())


def watched(lab, *args):
    """Run it under whygrad; quiet, so that all output is the script's."""
    return lab.whygrad("run", "--quiet", "--out", "out", *args)


@pytest.mark.forked()  # in real processes, each of which imports its framework
@pytest.mark.parametrize(
    ("script", "args", "optimizers"),
    mostly_long(
        [("dqn.py", (), 1), ("actor_critic.py", (), 2), ("actor_critic.py", ("--thread",), 2)],
        ("actor_critic.py", (), 2).__eq__,
    ),
)
def test_bit_equal_weights_and_the_same_output(lab, script, args, optimizers):
    shutil.copy(SCRIPTS / script, lab.folder)
    alone = lab.python(script, *args)
    weights = (lab.folder / "weights.bin").read_bytes()
    (lab.folder / "weights.bin").unlink()
    assert watched(lab, script, *args) == alone
    assert (lab.folder / "weights.bin").read_bytes() == weights
    assert len(weights) > 1000
    run = report(lab)
    assert len(run["updates"]) == optimizers
    assert all(update["count"] >= 60 and update["recorded"] for update in run["updates"])
    assert [n for n in run["notes"] if n["kind"] == "internal"] == []
    assert run["findings"] == []


START = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
    def forward(self, x):
        return F.relu(self.layer(x))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""

CRASHES = {
    "no graph": "with torch.no_grad():\n    loss = net(torch.ones(1, 3)).sum()\nloss.backward()",
    "shapes": "net(torch.ones(1, 4))",
    "chained": """
        try:
            F.mse_loss(torch.ones(2), "nothing")
        except AttributeError as error:
            raise ValueError("bad shape") from error
    """,
}

IN_THREADS = """
import threading

def second_time():
    loss = net(torch.ones(1, 3)).sum()
    loss.backward()
    loss.backward()

def in_place():
    y = net(torch.ones(1, 3)).exp().sigmoid()
    y.add_(1)
    y.sum().backward()

def wrong_type():
    net([1.0, 2.0])

def functional():
    F.mse_loss(torch.ones(2), "nothing")

def index():
    F.cross_entropy(net(torch.ones(1, 3)), torch.tensor([7]))

def grad():
    torch.autograd.grad(torch.ones(1).sum(), net.parameters())

def unrelated():
    torch.autograd.grad(net(torch.ones(1, 3)).sum(), torch.ones(1, requires_grad=True))

def forward_hook():
    handle = net.register_forward_hook(lambda *_: {}["x"])
    try:
        net(torch.ones(1, 3))
    finally:
        handle.remove()

def gradient_hook():
    handle = net.layer.weight.register_hook(lambda g: 1 / 0)
    try:
        net(torch.ones(1, 3)).sum().backward()
    finally:
        handle.remove()

def during_another():
    try:
        net(torch.ones(1, 4))
    except RuntimeError:
        torch.cat([torch.ones(2, 2), torch.ones(3)])

def printed_by_the_script():
    import logging, traceback
    try:
        net(torch.ones(1, 4))
    except RuntimeError:
        traceback.print_exc()
        logging.exception("logged")
        raise

for crash in (printed_by_the_script, second_time, in_place, wrong_type, functional, index, grad, unrelated, forward_hook,
              gradient_hook, during_another):
    thread = threading.Thread(target=crash, name=crash.__name__)
    thread.start()
    thread.join()
"""


@pytest.mark.forked()  # in real processes
@pytest.mark.parametrize("name", mostly_long(CRASHES, "chained".__eq__))
def test_tracebacks_through_torch(lab, name):
    lab.write(START.lstrip() + textwrap.dedent(CRASHES[name]))
    alone = lab.python("train.py")
    assert alone.code == 1
    assert watched(lab, "train.py") == alone
    assert report(lab)["exception"]["type"] in alone.stderr


@pytest.mark.forked()  # in real processes
def test_tracebacks_of_threads_through_torch(lab):
    lab.write(START.lstrip() + IN_THREADS)
    alone = lab.python("train.py")
    assert alone.stderr.count("Exception in thread") == 11
    assert watched(lab, "train.py") == alone


def test_everything_is_taken_away_again(lab):
    shutil.copy(SCRIPTS / "dqn.py", lab.folder / "train.py")
    lab.write(
        """
        import sys, threading, traceback
        import torch
        from torch.optim import optimizer
        from torch.overrides import _get_current_function_mode_stack
        from whygrad.running.program import Program
        from whygrad.running.session import Session

        def state():
            registered = [len(vars(module)[name]) for module in (optimizer, torch.nn.modules.module)
                          for name in sorted(vars(module)) if name.startswith("_global_") and "hooks" in name]
            patched = {name: id(value) for name, value in vars(torch.Tensor).items()}
            return (registered, len(_get_current_function_mode_stack()), threading.excepthook, sys.excepthook,
                    list(sys.meta_path), traceback.TracebackException.__init__, threading.getprofile(), threading.gettrace(), sys.getprofile(),
                    patched, id(torch.no_grad.__enter__), id(torch.autograd.backward))
        before = state()
        session = Session(Program("train.py", ("60",)))
        session.execute()
        run = session.finish()
        assert run.updates[0].count > 20, run
        assert session.finish() is run
        after = state()
        assert before == after, (before, after)
        print("clean")
        """,
        "drive.py",
    )
    done = lab.python("drive.py")
    assert done.stdout.endswith("clean\n"), done


LATE = """
import torch
from torch import nn
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters())

def evaluate():
    with torch.set_grad_enabled(False):
        net(torch.randn(8, 4))

for update in range(400):
    if update == 300:
        evaluate()
    if update == 350:
        SWITCH
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("switch", "line"), [("torch.set_grad_enabled(False)", 14), ("torch.no_grad().__enter__()", None)]
)
def test_gradients_turned_off_between_recorded_updates(lab, switch, line):
    """The line that did it, if it is known; a block before it that has ended is not blamed."""
    lab.write(LATE.replace("SWITCH", switch))
    assert watched(lab, "train.py").code == 1
    run = report(lab)
    assert [f["site"]["line"] for f in run["findings"]] == ([line] if line else [])
    assert [update["count"] for update in run["updates"]] == [350]
    if line:
        assert run["findings"][0]["rule"] == "no-grad-block"
        assert run["findings"][0]["why"].startswith("The forward pass runs under")


def test_gradients_that_are_cleared_only_now_and_then(lab):
    """Accumulation over more updates than are recorded is no forgotten zero_grad."""
    lab.write("""
        import torch
        from torch import nn
        net = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
        for update in range(1, 301):
            net(torch.randn(8, 4)).pow(2).mean().backward()
            optimizer.step()
            if update % 90 == 0:
                optimizer.zero_grad()
        """)
    assert watched(lab, "train.py").code == 0
    assert [f["rule"] for f in report(lab)["findings"]] == []


def test_check_ends_endless_training(lab):
    lab.write(
        START.lstrip()
        + "try:\n    while True:\n        loss = net.layer(torch.ones(4, 3)).pow(2).sum()\n        optimizer.zero_grad(); loss.backward()"
        "\n        optimizer.step()\nfinally:\n    print('saved')\n"
    )
    done = lab.whygrad("check", "--out", "out", "train.py")
    assert (done.stdout, done.code) == ("saved\n", 0), done
    assert report(lab)["stopped_early"]


def test_ctrl_c_gives_the_diagnosis_so_far(lab):
    lab.write(
        START.lstrip()
        + "import time\nstep = 0\nwhile True:\n    loss = net(torch.ones(4, 3)).detach().sum() + 0 * net.layer.bias.sum()\n"
        "    optimizer.zero_grad(); loss.backward(); optimizer.step(); step += 1\n"
        "    if step == 30: print('ready', flush=True)\n    time.sleep(0.001)\n"
    )
    alone = lab.interrupted((sys.executable, "train.py"))  # -2 or 1: that is up to what torch does at the end
    done = lab.interrupted((sys.executable, "-m", "whygrad", "run", "--out", "out", "train.py"))
    assert done.code == alone.code != 0
    assert "KeyboardInterrupt" in done.stderr
    assert "whygrad/" not in done.stderr.partition("KeyboardInterrupt\n")[0]
    assert report(lab)["updates"][0]["count"] >= 30


WORKERS = """
import sys
import torch
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return torch.full((3,), float(i)).exp().log().sum().reshape(1)

if __name__ == "__main__":
    torch.manual_seed(0)
    net = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    for batch in DataLoader(Data(), batch_size=16, shuffle=True, num_workers=1, multiprocessing_context=sys.argv[1]):
        loss = (net(batch) - batch).pow(2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        print(loss.item())
"""


@pytest.mark.parametrize("context", mostly_long(["fork", "spawn"], "fork".__eq__))
def test_data_loaders_with_processes(lab, context):
    lab.write(WORKERS)
    alone = lab.python("train.py", context)
    ours = watched(lab, "train.py", context)
    # stderr is left out: python's own resource tracker complains there now and then.
    assert (ours.stdout, ours.code) == (alone.stdout, alone.code)
    assert alone.code == 0, alone
    assert "whygrad" not in ours.stderr
    assert report(lab)["updates"][0]["count"] == 4


@pytest.mark.forked()  # in real processes
def test_stable_baselines(lab):
    lab.write(
        """
        import gymnasium as gym
        from stable_baselines3 import PPO
        model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=3, device="cpu")
        model.learn(192)
        print(sum(float(p.double().sum()) for p in model.policy.parameters()))
        """
    )
    alone = lab.python("train.py")
    assert alone.code == 0, alone
    assert watched(lab, "train.py") == alone
    run = report(lab)
    assert run["updates"][0]["count"] == 12
    assert [f for f in run["findings"] if f["severity"] != "note"] == []
