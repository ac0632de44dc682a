"""Two ranks that go apart, in every way that there is, and the twin of each that does not."""

from __future__ import annotations

import json

import pytest

PROGRAM = """
import sys, tempfile, time, torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.multiprocessing as mp
from contextlib import nullcontext
from torch.nn.parallel import DistributedDataParallel

class TwoHeads(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.first, self.second = first, nn.Linear(3, 1)
    def forward(self, state):
        return self.second(state), self.first(state)

def train(rank, meeting):
    dist.init_process_group("gloo", init_method=f"file://{{meeting}}/ranks", rank=rank, world_size=2)
    torch.manual_seed({seed})
    net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    ranks = dist.get_world_size()
    model = {model}
    optimizer = torch.optim.{kind}(model.parameters(), lr={rate})
    torch.manual_seed(rank)
    for _ in range(8):
        state, returns = torch.randn(16, 3), torch.randn(16, 1)
        optimizer.zero_grad()
        with {block}:
            loss = {loss}
            loss.backward()
        {reduced}
        optimizer.step()
    time.sleep(0.1)  # else torch may wait for ever for gloo's thread
    dist.destroy_process_group()

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as meeting:
        mp.start_processes(train, args=(meeting,), nprocs=2, start_method="fork")
"""
DDP = {"seed": "0", "model": "DistributedDataParallel(net)", "rate": "1e-2", "block": "nullcontext()", "loss": "F.mse_loss(model(state), returns)", "kind": "Adam", "reduced": "pass"}  # fmt: skip
SUM = "[dist.all_reduce(p.grad) for p in net.parameters()]"
HAND = DDP | {
    "model": "net",
    "reduced": "[(dist.all_reduce(p.grad), p.grad.div_(2)) for p in net.parameters()]",
}
SGD = {"kind": "SGD"}
OVER = {"loss": "F.mse_loss(model(state), returns) / ranks"}
FIND = DDP | {"model": "DistributedDataParallel(TwoHeads(net), find_unused_parameters=True)"}
BAD = {
    "module": (DDP | {"loss": "F.mse_loss(model.module(state), returns)"}, 26, "gradients are not reduced"),
    "inner": (DDP | {"loss": "F.mse_loss(net(state), returns)"}, 26, "gradients are not reduced"),
    "no_sync": (DDP | {"block": "model.no_sync()"}, 25, "gradients are not reduced"),
    "flag": (
        DDP | {"reduced": "model.require_backward_grad_sync = False"}, 28, "gradients are not reduced"
    ),
    "seed": (HAND | {"seed": "rank"}, 27, "began with other weights"),
    "rate": (HAND | {"rate": "1e-2 * (rank + 1)"}, 29, "in the step itself"),
    "summed": (HAND | SGD | {"reduced": SUM}, 28, "2 times too large"),
    "summed again": (DDP | SGD | {"reduced": SUM}, 28, "2 times too large"),
    "divided": (
        DDP | SGD | {"reduced": "[p.grad.div_(dist.get_world_size()) for p in net.parameters()]"},
        28,
        "2 times too small",
    ),
    "loss divided": (DDP | SGD | OVER, 26, "2 times too small"),
    "some": (
        FIND | {"loss": "sum(F.mse_loss(v, returns) for v in model(state)[rank:])"},
        27,
        "no part in the loss of rank 1",
    ),
}  # fmt: skip
RULE = {
    **dict.fromkeys(("summed", "summed again", "divided", "loss divided"), "scaled-by-ranks"),
    "some": "unused-on-ranks",
}
GOOD = {
    "ddp": DDP,
    "hand": HAND,
    "steady": HAND | {"reduced": SUM},  # Adam makes the same steps of gradients that are all twice as large
    "shared": HAND | SGD | OVER | {"reduced": SUM},
    "averaged again": DDP | SGD | {"reduced": HAND["reduced"]},
    "all": FIND | {"loss": "sum(F.mse_loss(v, returns) for v in model(state))"},
}


def found(lab, parts):
    lab.write(PROGRAM.format(**parts))
    done = lab.whygrad("run", "train.py")
    assert done.code == 0, done.stderr
    (path,) = lab.folder.glob("runs/*/report.json")
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    "name",
    ["module", "summed", *(pytest.param(n, marks=pytest.mark.long) for n in list(BAD)[1:] if n != "summed")],
)
def test_ranks_that_go_apart(lab, name):
    parts, line, words = BAD[name]
    (finding,) = found(lab, parts)["findings"]
    assert (finding["rule"], finding["site"]["line"]) == (RULE.get(name, "ranks-diverge"), line)
    assert words in finding["title"]


@pytest.mark.long
@pytest.mark.parametrize("name", GOOD)
def test_ranks_that_stay_together(lab, name):
    report = found(lab, GOOD[name])
    assert report["findings"] == [] and report["healthy"]
    assert {p["rank"] for p in report["processes"] if p["updates"]} == {0, 1}
