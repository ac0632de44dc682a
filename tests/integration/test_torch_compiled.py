"""``torch.compile`` does what it does without us: same graphs, same breaks, same weights, nothing on stderr."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.forked("torch")

QUIET = """
import logging, torch, torch.nn as nn, torch.nn.functional as F
torch._logging.set_logs(all=logging.ERROR)
torch.manual_seed(0)

def compiled(function, **options):
    return torch.compile(function, backend="aot_eager", **options)

def finish(*modules):
    from torch._dynamo.utils import counters
    for name, counted in sorted(counters.items()):
        print(name, sorted((what.split("\\n")[0], n) for what, n in counted.items()))
    print(sum(p.detach().double().sum().item() for m in modules for p in m.parameters()).hex())
"""

ONE_GRAPH = """
net = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 1))
other = nn.Linear(4, 16)
opt = torch.optim.Adam(net.parameters(), 1e-2)

def clip():
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    torch.nn.utils.clip_grad_value_(list(net.parameters()), 1.0)

def clear():
    net.zero_grad()
    return torch.ones(1) * 2

def modes(x):
    net.train()
    y = net(x)
    net.eval()
    with torch.no_grad():
        return y, net(x)

compiled(lambda x: x * 2)(torch.ones(2))
clip, clear, modes = (compiled(f, fullgraph=True) for f in (clip, clear, modes))
step = compiled(opt.step)
net.compile(backend="aot_eager")
for i in range(10):
    x = torch.randn(8, 4)
    y, _ = modes(x)
    loss = (y.squeeze(1) - x.sum(1)).pow(2).mean() + net(x).mean() ** 2
    clear()
    loss.backward()
    clip()
    step()
finish(net)
"""

WHOLE_UPDATE = """
q, target = [nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.SGD(q.parameters(), 1e-2, momentum=0.9)

def update(s, a, r, s2):
    with torch.no_grad():
        y = r + 0.99 * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(q.parameters(), 10.0)
    opt.step()
    SYNC
    CLEAR
    return loss

update = compiled(update)
for i in range(20):
    update(torch.randn(32, 4), torch.randint(0, 2, (32,)), torch.randn(32), torch.randn(32, 4))
finish(q, target)
"""

SOFT = "with torch.no_grad(): [t.lerp_(p, 0.05) for t, p in zip(target.parameters(), q.parameters())]"
HARD = "target.load_state_dict(q.state_dict())"


def judged(lab, script):
    """Nothing differs that the program can see; what the report says of it."""
    lab.write(QUIET + script)
    alone = lab.python("train.py")
    assert alone.code == 0, alone.stderr
    assert lab.whygrad("run", "--quiet", "--out", "out", "train.py") == alone
    report = json.loads((lab.folder / "out" / "report.json").read_text())
    assert [note for note in report["notes"] if note["kind"] == "internal"] == []
    return report


def test_one_graph_stays_one_graph(lab):
    report = judged(lab, ONE_GRAPH)
    assert [(u["optimizer"], u["count"]) for u in report["updates"]] == [("opt", 10)]
    assert report["findings"] == []


@pytest.mark.parametrize("sync", [SOFT, pytest.param(HARD, marks=pytest.mark.long)], ids=["soft", "hard"])
@pytest.mark.parametrize(
    "clear", ["", pytest.param("opt.zero_grad()", marks=pytest.mark.long)], ids=["", "cleared at the end"]
)
def test_a_compiled_update_is_counted_and_judged(lab, sync, clear):
    report = judged(lab, WHOLE_UPDATE.replace("SYNC", sync).replace("CLEAR", clear))
    assert [(u["optimizer"], u["count"]) for u in report["updates"]] == [("opt", 20)]
    assert report["findings"] == []


def test_a_target_that_a_compiled_update_never_syncs(lab):
    report = judged(lab, WHOLE_UPDATE.replace("SYNC", "").replace("CLEAR", ""))
    assert report["verdict"] != "healthy"


@pytest.mark.long
def test_compiled_updates_are_summarized(lab):
    lab.write(QUIET + WHOLE_UPDATE.replace("SYNC", HARD).replace("CLEAR", ""))
    done = lab.whygrad("run", "--watch", "--every", "5", "--out", "out", "train.py")
    assert "4 updates were summarized" in done.stderr
