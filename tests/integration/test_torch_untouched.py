"""What a program does to torch itself has the same effect with and without us."""

from __future__ import annotations

import json

import pytest
from tests.choosing import mostly_long

pytestmark = pytest.mark.forked("torch")


def judged(lab):
    """Nothing differs that the program can see; what the report says of it."""
    alone = lab.python("train.py")
    assert lab.whygrad("run", "--quiet", "--out", "out", "train.py") == alone
    assert alone.code == 0, alone.stderr
    report = json.loads((lab.folder / "out" / "report.json").read_text())
    assert [note for note in report["notes"] if note["kind"] == "internal"] == []
    return report


REPLACING = """
import functools, torch, torch.nn as nn, torch.nn.functional as F
from unittest import mock
torch.manual_seed(0)
calls = {}

def replace(owner, *names):
    for name in names:
        original = getattr(owner, name)
        @functools.wraps(original)
        def smaller(*args, _name=name, _original=original, **kwargs):
            calls[_name] = calls.get(_name, 0) + 1
            result = _original(*args, **kwargs)
            return torch.mul(result, 0.9) if isinstance(result, torch.Tensor) and result.is_floating_point() else result
        setattr(owner, name, smaller)

def replace_backward():
    original = torch.Tensor.backward
    def backward(self, *args, **kwargs):
        calls["Tensor.backward"] = calls.get("Tensor.backward", 0) + 1
        return original(self * 0.5, *args, **kwargs)
    torch.Tensor.backward = backward

def replace_all():
    REPLACED

if WHEN < 0:
    replace_all()
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(12):
    if i == WHEN:
        replace_all()
    x = F.dropout(F.layer_norm(torch.randn(4, 8), (8,)), 0.1)
    y = net(x)
    loss = F.mse_loss(y, torch.ones(4, 1)) + (y + 1).mul(0.5).mean() * 2 + y.norm() + F.elu(y).mean() - y.data.mean()
    loss = loss + F.max_pool1d(y.T[None], 2).mean() + torch.meshgrid(y[0], y[1], indexing="ij")[0].mean()
    opt.zero_grad()
    if i % 3:
        loss.backward()
    else:
        torch.autograd.backward(loss)
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
print(calls, loss.item(), [p.tolist() for p in net.parameters()])
"""
METHODS = """
    replace(torch.Tensor, "add", "mul", "mean", "norm", "__mul__", "__getitem__", "abs", "max", "any")
    replace(torch.Tensor, "sum", "detach", "item", "tolist", "reshape", "clone", "sub", "__float__", "__bool__")
    replace(nn.Module, "__call__")
    data = torch.Tensor.data
    torch.Tensor.data = property(lambda tensor: 0.9 * data.__get__(tensor), data.__set__)
    replace_backward()
"""
FROZEN = (
    METHODS
    + """
    import gc
    gc.freeze()  # from here on gc tells nobody who holds what
"""
)
FUNCTIONS = """
    replace(F, "mse_loss", "relu", "linear", "max_pool1d")
    replace(torch, "meshgrid", "relu")
    replace(torch.functional, "meshgrid", "norm")
    replace(torch.autograd, "backward", "grad")
    replace(torch.optim.SGD, "step")
    replace(torch.optim.Optimizer, "zero_grad")
    replace(nn.utils, "clip_grad_norm_")
    F.layer_norm = functools.partial(F.layer_norm, eps=1e-3)
    F.dropout = mock.MagicMock(wraps=F.dropout)
    F.elu = torch.no_grad()(F.elu)
"""


@pytest.mark.forked()  # in real processes
@pytest.mark.parametrize(
    "when", mostly_long([-1, 4, 9], (4).__eq__), ids=["before", "while recording", "later"]
)
@pytest.mark.parametrize("replaced", [METHODS, FUNCTIONS, FROZEN], ids=["methods", "functions", "frozen"])
def test_what_replaces_a_function_of_torch_runs_once(lab, replaced, when):
    lab.write(REPLACING.replace("    REPLACED\n", replaced).replace("WHEN", str(when)))
    assert judged(lab)["updates"][0]["count"] == 12


TRACING = """
import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(2, 3)

def update(y):
    opt.zero_grad()
    y.pow(2).mean().backward()
    opt.step()

def learn(module=net):
    for _ in range(2):
        update(module(x))

learn()
"""
GRAPHS = """
traced = torch.jit.trace(net, x)
print(traced.code)
learn(traced)
@torch.jit.script
def total(a):
    return (a * 2).sum()
print(torch.jit.trace(lambda a: total(a) * a.shape[0] + torch.zeros(1).item(), x)(x))
scripted = torch.jit.script(net)
print(scripted.code)
learn(scripted)
update(net(x) * total(x))
symbolic = torch.fx.symbolic_trace(net)
print(symbolic.code)
learn(symbolic)
"""
EXPORTS = """
from torch.fx.experimental.proxy_tensor import make_fx
for kind in ("real", "fake", "symbolic"):
    print(make_fx(lambda a: net(a).pow(2).sum(), tracing_mode=kind, _allow_non_fake_inputs=True)(x).code)
exported = torch.export.export(net, (x,))
print(exported.graph_module.code)
learn(exported.module())
print(torch.export.export(net, (x,), strict=True).graph_module.code)
"""
TRANSFORMS = """
from torch.func import functional_call, grad, jacrev, jvp, stack_module_state, vmap
found = grad(lambda p: functional_call(net, p, (x,)).pow(2).mean())(dict(net.named_parameters()))
for name, p in net.named_parameters():
    p.grad = found[name].detach()
opt.step()
print(jacrev(net)(x[0]).tolist(), jvp(net, (x,), (x,))[1].tolist())
learn(vmap(net))
print(vmap(lambda a: nn.utils.parameters_to_vector(net.parameters()).sum() * a.sum().detach())(x).tolist())
base = nn.Linear(3, 2)
params, buffers = stack_module_state([nn.Linear(3, 2) for _ in range(3)])
many = torch.optim.SGD(params.values(), lr=0.1)
call = lambda p, b: functional_call(base, (p, b), (x,))
for _ in range(3):
    many.zero_grad()
    vmap(call)(params, buffers).pow(2).mean().backward()
    many.step()
"""


@pytest.mark.parametrize(
    "body",
    mostly_long([GRAPHS, EXPORTS, TRANSFORMS], EXPORTS.__eq__),
    ids=["graphs", "exports", "transforms"],
)
def test_what_torch_traces_or_transforms_has_nothing_of_ours_in_it(lab, body):
    lab.write(TRACING + body + "learn()\nprint([p.tolist() for p in net.parameters()])\n")
    assert judged(lab)["findings"] == []


def test_parameters_that_get_their_shape_later(lab):
    lab.write(
        """
        import torch, torch.nn as nn
        torch.manual_seed(0)
        net = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.Linear(4, 1))
        actor = nn.Linear(3, 1)
        early = torch.optim.SGD(net.parameters(), lr=0.1)
        net(torch.randn(4, 3))
        opt = torch.optim.SGD([*net.parameters(), *actor.parameters()], lr=0.1)
        for i in range(10):
            x = torch.randn(4, 3)
            loss = (net(x) + actor(x).detach()).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        print([p.tolist() for p in net.parameters()])
        """
    )
    found = judged(lab)["findings"]
    assert [(f["rule"], f["site"]["line"]) for f in found] == [("detached", 10)]


def test_modes_and_tensor_classes_of_the_program_see_no_call_of_ours(lab):
    lab.write(
        """
        import torch, torch.nn as nn
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode
        torch.manual_seed(0)
        seen = []
        class Functions(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                seen.append(getattr(func, "__name__", "?"))
                return func(*args, **(kwargs or {}))
        class Operations(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                seen.append(str(func))
                return func(*args, **(kwargs or {}))
        class Marked(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                seen.append("Marked." + getattr(func, "__name__", "?"))
                return super().__torch_function__(func, types, args, kwargs or {})
        net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.3), nn.Linear(4, 2))
        opt = torch.optim.Adam(net.parameters(), lr=0.01)
        def update(kind):
            x = torch.randn(4, 3).as_subclass(kind)
            loss = net(x).pow(2).mean() + 0.1 * (1 - x[:, 0]).mul(net(x)[:, 1]).mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(net.parameters(), 0.5)
            opt.step()
        for i in range(12):
            with Functions(), Operations():
                update(torch.Tensor)
            with Operations():
                update(Marked)
            update(Marked)
        print(len(seen), seen, [p.tolist() for p in net.parameters()])
        """
    )
    assert judged(lab)["findings"] == []
