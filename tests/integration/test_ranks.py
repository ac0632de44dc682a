"""Two ranks that go apart, in every way that there is, and the twin of each that does not."""

from __future__ import annotations

import json

import pytest

PROGRAM = """
import sys, tempfile, torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.multiprocessing as mp
from contextlib import nullcontext
from torch.nn.parallel import DistributedDataParallel

def train(rank, meeting):
    dist.init_process_group("gloo", init_method=f"file://{{meeting}}/ranks", rank=rank, world_size=2)
    torch.manual_seed({seed})
    net = nn.Linear(3, 1)
    model = {model}
    optimizer = torch.optim.Adam(net.parameters(), lr={rate})
    torch.manual_seed(rank)
    for _ in range(8):
        state, returns = torch.randn(16, 3), torch.randn(16, 1)
        optimizer.zero_grad()
        with {block}:
            loss = F.mse_loss({call}(state), returns)
            loss.backward()
        {reduced}
        optimizer.step()
    dist.destroy_process_group()

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as meeting:
        mp.start_processes(train, args=(meeting,), nprocs=2, start_method="fork")
"""
DDP = {"seed": "0", "model": "DistributedDataParallel(net)", "rate": "1e-2", "block": "nullcontext()", "call": "model", "reduced": "pass"}  # fmt: skip
HAND = DDP | {
    "model": "net",
    "reduced": "[(dist.all_reduce(p.grad), p.grad.div_(2)) for p in net.parameters()]",
}
BAD = {
    "module": (DDP | {"call": "model.module"}, 18, "gradients are not reduced"),
    "no_sync": (DDP | {"block": "model.no_sync()"}, 17, "gradients are not reduced"),
    "seed": (HAND | {"seed": "rank"}, 19, "began with other weights"),
    "rate": (HAND | {"rate": "1e-2 * (rank + 1)"}, 21, "in the step itself"),
}
GOOD = {"ddp": DDP, "hand": HAND}


def found(lab, parts):
    lab.write(PROGRAM.format(**parts))
    done = lab.whygrad("run", "train.py")
    assert done.code == 0, done.stderr
    (path,) = lab.folder.glob("runs/*/report.json")
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    "name", ["module", *(pytest.param(n, marks=pytest.mark.long) for n in BAD if n != "module")]
)
def test_ranks_that_go_apart(lab, name):
    parts, line, words = BAD[name]
    (finding,) = found(lab, parts)["findings"]
    assert (finding["rule"], finding["site"]["line"]) == ("ranks-diverge", line)
    assert words in finding["title"]


@pytest.mark.long
@pytest.mark.parametrize("name", GOOD)
def test_ranks_that_stay_together(lab, name):
    report = found(lab, GOOD[name])
    assert report["findings"] == [] and report["healthy"]
    assert {p["rank"] for p in report["processes"] if p["updates"]} == {0, 1}
