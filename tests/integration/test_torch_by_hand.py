"""Updates that no optimizer of torch makes are updates all the same, and nothing is changed by seeing them."""

from __future__ import annotations

import json

import pytest
from tests.choosing import mostly_long

pytestmark = pytest.mark.forked("torch")

BEGIN = """
import torch, torch.nn as nn
torch.manual_seed(0)
encoder, net = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
weights = [*encoder.parameters(), *net.parameters()]

class Momentum:
    def __init__(self, *nets):
        self.nets, self.kept = nets, {}

    def step(self):
        for p in [p for net in self.nets for p in net.parameters()]:
            if p.grad is not None:
                kept = self.kept.setdefault(p, torch.zeros_like(p.data))
                p.data.add_(kept.mul_(0.9).add_(p.grad.data), alpha=-0.01)

def descend(params):
    with torch.no_grad():
        for p in params:
            if p.grad is not None:
                p -= 0.01 * p.grad

momentum = Momentum(encoder, net)
for i in range(130):
    x = torch.randn(32, 4)
    loss = (net(FEATURES).squeeze(1) - x.sum(1)).pow(2).mean()
    STEP
    for p in weights:
        p.grad = None
print(sum(p.detach().double().sum().item() for p in weights).hex())
"""

STEPS = {
    "data": "loss.backward()\n    for p in weights:\n        if p.grad is not None: p.data -= 0.01 * p.grad",
    "function": "loss.backward()\n    descend(weights)",
    "foreach": "loss.backward()\n    live = [p for p in weights if p.grad is not None]\n"
    "    torch._foreach_add_([p.data for p in live], [p.grad for p in live], alpha=-0.01)",
    "class": "loss.backward()\n    momentum.step()",
    "assigned": "loss.backward()\n    for p in weights:\n"
    "        if p.grad is not None: p.data = p.data - 0.01 * p.grad",
    "given out": "with torch.no_grad():\n"
    "        for p, g in zip(weights, torch.autograd.grad(loss, weights, allow_unused=True)):\n"
    "            if g is not None: p.sub_(0.01 * g)",
}


def judged(lab, script):
    lab.write(script)
    alone = lab.python("train.py")
    assert alone.code == 0, alone.stderr
    assert lab.whygrad("run", "--quiet", "--out", "out", "train.py") == alone
    report = json.loads((lab.folder / "out" / "report.json").read_text())
    assert [note for note in report["notes"] if note["kind"] == "internal"] == []
    return report


@pytest.mark.parametrize("step", mostly_long(STEPS, {"data", "class"}.__contains__))
def test_a_healthy_loop_is_counted_and_left_in_peace(lab, step):
    report = judged(lab, BEGIN.replace("STEP", STEPS[step]).replace("FEATURES", "encoder(x)"))
    assert report["verdict"] == "healthy"
    assert [u["count"] for u in report["updates"]] == [130]


@pytest.mark.parametrize("step", mostly_long(STEPS, {"data", "class"}.__contains__))
def test_what_a_loop_passes_over_has_a_cause(lab, step):
    report = judged(lab, BEGIN.replace("STEP", STEPS[step]).replace("FEATURES", "encoder(x).detach()"))
    assert [(f["rule"], f["network"]) for f in report["findings"]] == [("detached", "encoder")]


AGENT = """
import torch, torch.nn as nn
torch.manual_seed(0)
actor, critic = nn.Linear(3, 1), nn.Linear(4, 1)

def q(s, a):
    return critic(torch.cat([s, a], 1)).squeeze(1)

def descend(net, rate):
    for p in net.parameters():
        if p.grad is not None:
            p.data -= rate * p.grad
    actor.zero_grad()
    critic.zero_grad()

for i in range(40):
    s, a = torch.randn(32, 3), torch.randn(32, 1)
    (q(s, a) + (a.squeeze(1) - s[:, 0]).pow(2)).pow(2).mean().backward()
    descend(critic, 1e-2)
    loss = -q(s, actor(s)CUT).mean()
    loss.backward()
    descend(actor, 1e-3)
"""


def test_a_network_that_no_loop_writes_into_is_a_doubt(lab):
    assert judged(lab, AGENT.replace("CUT", ""))["verdict"] == "healthy"
    report = judged(lab, AGENT.replace("CUT", ".detach()"))
    assert report["verdict"] == "no fault found"
    assert "actor takes part in the loss at line 19, gets no gradient" in report["notes"][0]["text"]


SHARP = """
import copy, torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
average = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), 1e-2)

def loss(x):
    return (net(x).squeeze(1) - x.sum(1)).pow(2).mean()

for i in range(30):
    x = torch.randn(32, 4, requires_grad=True)
    loss(x).backward()
    x.data += 0.01 * x.grad.sign()
    with torch.no_grad():
        ascent = [0.01 * p.grad / p.grad.norm() for p in net.parameters()]
        for p, e in zip(net.parameters(), ascent):
            p.add_(e)
    opt.zero_grad()
    loss(x.detach()).backward()
    with torch.no_grad():
        for p, e in zip(net.parameters(), ascent):
            p.sub_(e)
    opt.step()
    with torch.no_grad():
        for a, p in zip(average.parameters(), net.parameters()):
            a.lerp_(p, 0.1)
"""


def test_what_is_written_beside_the_steps_of_an_optimizer_is_no_update(lab):
    report = judged(lab, SHARP)
    assert [(u["optimizer"], u["count"]) for u in report["updates"]] == [("opt", 30)]
    assert report["findings"] == []


FUNCTIONAL = """
import torch, torch.nn as nn
from torch.func import functional_call, grad
net = nn.Linear(4, 1)
params = {k: v.detach() for k, v in net.named_parameters()}

def loss(p, x):
    return (functional_call(net, p, (x,)).squeeze(-1) - x.sum(-1)).pow(2).mean()

for i in range(10):
    g = grad(loss)(params, torch.randn(32, 4))
    params = {k: v - 1e-2 * g[k] for k, v in params.items()}
"""


@pytest.mark.long
def test_gradients_of_torch_func_are_not_judged_and_it_says_so(lab):
    report = judged(lab, FUNCTIONAL)
    assert report["verdict"] == "not judged"
    assert "torch.func.grad" in report["notes"][0]["text"]


KERAS = """
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras, torch
keras.utils.set_random_seed(0)
actor = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(2)], name="actor")
critic = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)], name="critic")
optimizer, other = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
optimizer.build(critic.trainable_variables), other.build(actor.trainable_variables)

def apply(adam, loss, net):
    net.zero_grad()
    loss.backward()
    weights = net.trainable_weights
    with torch.no_grad():
        adam.apply([torch.zeros_like(w.value) if w.value.grad is None else w.value.grad for w in weights], weights)

for i in range(12):
    s = torch.randn(32, 4)
    apply(optimizer, ((critic(torch.cat([s, actor(s).detach()], 1)).squeeze(1) - s.sum(1)) ** 2).mean(), critic)
    apply(other, -critic(torch.cat([s, actor(s)CUT], 1)).mean(), actor)
"""


@pytest.mark.tensorflow
def test_keras_on_torch_is_judged_by_torch(lab):
    lab.write(KERAS.replace("CUT", ""))
    assert "whygrad: healthy" in lab.whygrad("run", "train.py").stderr
    lab.write(KERAS.replace("CUT", ".detach()"))
    assert "error[detached] actor gets no gradient" in lab.whygrad("run", "train.py").stderr
