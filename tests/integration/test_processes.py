"""Programs of many processes: each is watched, one report comes of it, and nothing else is changed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")

#: Workers with a copy each train shared weights. ``{give}`` hands a gradient over.
A3C = """
import sys, torch
import torch.multiprocessing as mp
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.pi, self.v = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)
    def forward(self, x):
        h = torch.tanh(self.body(x))
        return self.pi(h), self.v(h).squeeze(-1)

def worker(rank, shared):
    torch.manual_seed(rank)
    local = Net()
    opt = torch.optim.SGD(shared.parameters(), lr=1e-3)
    for _ in range(12):
        local.load_state_dict(shared.state_dict())
        x = torch.randn(16, 4)
        logits, v = local(x)
        d = torch.distributions.Categorical(logits=logits)
        a = d.sample()
        adv = (a == (x[:, 0] > 0).long()).float() - v
        loss = -(d.log_prob(a) * adv.detach()).mean() + 0.5 * adv.pow(2).mean()
        opt.zero_grad()
        local.zero_grad()
        loss.backward()
        for p, q in zip(local.parameters(), shared.parameters()):
            {give}
        opt.step()

if __name__ == "__main__":
    torch.manual_seed(0)
    shared = Net()
    shared.share_memory()
    ctx = mp.get_context(sys.argv[1])
    processes = [ctx.Process(target=worker, args=(r, shared)) for r in range(2)]
    for p in processes: p.start(); {serial}
    for p in processes: p.join()
    print(sum(p.detach().double().sum() for p in shared.parameters()).item(), [p.exitcode for p in processes])
"""
GIVEN, KEPT = "q._grad = p.grad", "if q.grad is None: break"

DDP = """
import os, time, torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    agent = DDP(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)))
    opt = torch.optim.Adam(agent.parameters(), 1e-3)
    torch.manual_seed(100 + dist.get_rank())
    for it in range(12):
        x = torch.randn(32, 4)
        loss = (agent(x).squeeze(-1) - x.sum(-1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step(){more}
    total = sum(p.detach().double().sum() for p in agent.parameters()).item()
    open(f"rank{{dist.get_rank()}}.txt", "a").write(f"{{total!r}}\\n")
    time.sleep(0.1)  # else torch may wait for ever for gloo's thread
    dist.destroy_process_group()

main()
"""


def report(lab):
    (path,) = lab.folder.glob("runs/*/report.json")
    return json.loads(path.read_text())


def learners(found):
    return [p for p in found["processes"] if p["updates"]]


def test_forked_workers_are_watched_and_train_the_same(lab):
    lab.write(A3C.format(give=GIVEN, serial="p.join()"))
    alone = lab.python("train.py", "fork")
    ours = lab.whygrad("run", "train.py", "fork")
    assert (ours.stdout, ours.code) == (alone.stdout, alone.code) and "[0, 0]" in alone.stdout
    assert ours.stderr.count("whygrad: healthy. 24 updates in 2 processes") == 1
    found = report(lab)
    assert [p["updates"] for p in learners(found)] == [12, 12]
    assert [u["count"] for u in found["updates"]] == [24]
    assert {p["duty"] for p in learners(found)} == {"learner"}


@pytest.mark.parametrize("method", [pytest.param("spawn", marks=pytest.mark.long), "fork"])
def test_gradients_that_workers_keep_to_themselves(lab, method):
    lab.write(A3C.format(give=KEPT, serial=""))
    done = lab.whygrad("run", "train.py", method)
    (finding,) = report(lab)["findings"]
    assert (finding["rule"], finding["network"]) == ("gradient-handover", "shared")
    assert (finding["ranks"], finding["updates"]) == ("both processes", 24)
    assert done.stderr.count("error[gradient-handover]") == 1


@pytest.mark.long
def test_spawned_workers_train_the_same(lab):
    lab.write(A3C.format(give=GIVEN, serial="p.join()"))
    lab.same("train.py", "spawn")
    assert not report(lab)["findings"]


def numbers(lab, rank):
    return (lab.folder / f"rank{rank}.txt").read_text().split()


def test_torchrun_gives_one_report_and_the_same_weights(lab):
    lab.write(DDP.format(more=""))
    alone = lab.do(*TORCHRUN, "train.py")
    ours = lab.whygrad("run", "--", *TORCHRUN, "train.py")
    assert (alone.code, ours.code) == (0, 0), ours.stderr
    assert len({*numbers(lab, 0), *numbers(lab, 1)}) == 1  # both ranks, with us and without
    assert ours.stderr.count("whygrad: ") == 2  # the verdict, and where the report is
    found = report(lab)
    assert found["healthy"] and found["script"] == "train.py"
    assert [(p["rank"], p["world"], p["updates"]) for p in learners(found)] == [(0, 2, 12), (1, 2, 12)]


@pytest.mark.long
@pytest.mark.parametrize("command", [("run", "-m", *TORCHRUN[2:]), ("check", "--", *TORCHRUN)])
def test_other_ways_to_start_ranks(lab, command):
    lab.write(DDP.format(more=""))
    done = lab.whygrad(*command, "train.py")
    assert done.code == 0, done.stderr
    assert len(learners(report(lab))) == 2
    assert done.stderr.count("whygrad: ") == 2


@pytest.mark.long
def test_ranks_that_run_whygrad_themselves_share_a_report(lab):
    lab.write(DDP.format(more=""))
    done = lab.do(*TORCHRUN, "-m", "whygrad", "run", "train.py")
    assert done.code == 0, done.stderr
    assert done.stderr.count("whygrad: healthy. 24 updates in 2 processes") == 1
    assert len(learners(report(lab))) == 2
    judged = lab.whygrad("judge")
    assert "healthy. 24 updates in 2 processes" in judged.stdout


@pytest.mark.long
def test_a_rank_that_dies_is_told_of_first(lab):
    fails = "\n        if it == 8 and dist.get_rank() == 1: raise KeyError('reward')"
    lab.write(DDP.format(more=fails))
    alone = lab.do(*TORCHRUN, "train.py")
    ours = lab.whygrad("run", "--", *TORCHRUN, "train.py")
    assert ours.code == alone.code != 0
    found = report(lab)
    assert found["exception"]["type"] == "KeyError"
    assert found["exception"]["line"] == 17
    assert ours.stderr.count("KeyError: 'reward'") == alone.stderr.count("KeyError: 'reward'")
    assert ours.stderr.count("the script stopped with KeyError") == 1


@pytest.mark.long
def test_a_worker_that_is_killed_leaves_what_it_had(lab):
    lab.write(
        """
        import os, signal, time, torch, multiprocessing
        def train():
            net = torch.nn.Linear(2, 1)
            opt = torch.optim.SGD(net.parameters(), lr=1e-3)
            print("ready", flush=True)
            while True:
                loss = net(torch.ones(4, 2)).pow(2).mean()
                opt.zero_grad(); loss.backward(); opt.step()
                time.sleep(0.001)
        if __name__ == "__main__":
            child = multiprocessing.get_context("fork").Process(target=train); child.start()
            folder = os.path.dirname(__import__("json").loads(os.environ["WHYGRAD_PROCESSES"])["folder"])
            until = time.monotonic() + 120
            while time.monotonic() < until and not any(n.endswith(".wg") for _, _, f in os.walk(folder) for n in f):
                time.sleep(0.05)
            os.kill(child.pid, signal.SIGKILL); child.join()
        """
    )
    done = lab.whygrad("run", "train.py")
    assert done.code == 0
    (process,) = learners(report(lab))
    assert process["updates"] > 0 and not process["finished"]
    assert report(lab)["verdict"] == "no fault found"


def test_processes_that_import_no_framework_are_left_alone(lab):
    lab.write(
        """
        import os, subprocess, sys
        code = "import sys; print(sorted(m for m in sys.modules if m.startswith('whygrad')))"
        print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        """
    )
    done = lab.whygrad("run", "train.py")
    assert done.stdout.strip() == "['whygrad', 'whygrad.processes', 'whygrad.processes.start']"
    assert not (lab.folder / "runs").exists()
    assert lab.python("train.py").stdout.strip() == "[]"


@pytest.mark.long
@pytest.mark.parametrize("command", [("sh", "-c", "exit 3"), ("sh", "-c", "kill -9 $$")])
def test_the_exit_code_of_a_command(lab, command):
    alone, ours = lab.do(*command), lab.whygrad("run", "--quiet", "--", *command)
    assert ours.code == alone.code


def test_a_command_that_is_not_there(lab):
    done = lab.whygrad("run", "--", "no-such-launcher", "train.py")
    assert (done.code, done.stderr) == (2, "whygrad: there is no command 'no-such-launcher'\n")


@pytest.mark.long
def test_ctrl_c_ends_all_ranks_and_gives_one_report(lab):
    lab.write(
        DDP.format(more="\n        if it == 8 and dist.get_rank() == 0: print('ready', flush=True)").replace(
            "range(12)", "range(10**9)"
        )
    )
    lab.env["PYTHONUNBUFFERED"] = "1"
    process = subprocess.Popen(
        [sys.executable, "-m", "whygrad", "run", "--", *TORCHRUN, "train.py"],
        cwd=lab.folder, env=lab.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        while process.stdout.readline().strip() != "ready":
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=240)
        assert err.count("the report is in") == 1
        assert sum(p["updates"] for p in learners(report(lab))) > 0
        assert gone(process.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def gone(group: int) -> bool:
    """Is nobody left of this group, after a while?"""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.long
@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_the_hook_is_installed_with_the_package(hook, tmp_path):
    root = Path(__file__).parents[2]
    code = (
        "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
    )
    copy = tmp_path / "clone"
    import shutil

    leave = shutil.ignore_patterns("*.egg-info", "__pycache__", "*.so")
    shutil.copytree(root / "src", copy / "src", ignore=leave)
    for name in (
        "pyproject.toml",
        "setup.py",
        "MANIFEST.in",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "whygrad-start.pth",
    ):
        shutil.copy(root / name, copy / name)
    done = subprocess.run(
        [sys.executable, "-c", code, hook, str(tmp_path)], cwd=copy, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    environment = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    wheel = tmp_path / done.stdout.split()[-1]
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel], check=True)
    show = "import sys; print('whygrad.processes.start' in sys.modules)"
    seen = [
        subprocess.run(
            [python, "-c", show], env={**os.environ, **more}, capture_output=True, text=True
        ).stdout.strip()
        for more in ({}, {"WHYGRAD_PROCESSES": "{}"})
    ]
    assert seen == ["False", "True"]
