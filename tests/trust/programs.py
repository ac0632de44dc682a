"""Small training programs as people write them, put together by chance: the same number gives the same one.

Each prints all that is left of it: weights, gradients, moments, random states, and what it finds around itself.
"""

from __future__ import annotations

import random

_HEAD = """\
import copy, hashlib, io, os, pickle, random, signal, sys, threading, warnings
import numpy as np
random.seed({seed}); np.random.seed({seed})


def digest(*arrays):
    found = hashlib.sha256()
    for array in arrays:
        found.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def around():
    print("threads", sorted(t.name for t in threading.enumerate()), "descriptors", len(os.listdir("/proc/self/fd")))
    print("filters", len(warnings.filters), "signals", [str(signal.getsignal(s)) for s in (2, 15, 10)])
    print("hooks", sys.gettrace(), sys.getprofile(), sys.excepthook is sys.__excepthook__)
    print("environment", sorted(k for k in os.environ if "WHYGRAD" in k), os.getcwd() == os.path.realpath("."))
    print("files", sorted(n for n in os.listdir(".") if n.endswith(".txt") and n[:3] != "std"))
    print("random", digest(np.random.get_state()[1]), random.random())

"""

_TORCH_HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed({seed})
"""

_NETS = (
    "net = nn.Sequential(nn.Linear(4, 8), nn.{act}(), nn.Linear(8, 2))",
    "net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.{act}(), nn.Dropout(0.2), nn.Linear(8, 2))",
    "net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.{act}(), nn.Linear(8, 2)).double()",
    "net = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 2))",
    "net = nn.utils.parametrizations.weight_norm(nn.Linear(4, 2))",
    "net = nn.Sequential(nn.Unflatten(1, (2, 2)), nn.GRU(2, 2, batch_first=True))\n"
    "inner = net\nnet = type('Last', (nn.Module,), {{'__init__': lambda s: (nn.Module.__init__(s), "
    "setattr(s, 'inner', inner))[0], 'forward': lambda s, x: s.inner(x)[0][:, -1]}})()",
    "net = nn.Sequential(nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 3, 2), nn.Flatten(), nn.{act}(), nn.Linear(3, 2))",
    "net = nn.Sequential(nn.LazyLinear(6), nn.{act}(), nn.Linear(6, 2)); net(torch.zeros(2, 4))",
)
_OPTIMIZERS = (
    "opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)",
    "opt = torch.optim.Adam(net.parameters(), lr=0.01)",
    "opt = torch.optim.AdamW(net.parameters(), lr=0.01, amsgrad=True)",
    "opt = torch.optim.RMSprop(net.parameters(), lr=0.01)",
    "opt = torch.optim.Adam([{{'params': [p]}} for p in net.parameters()], lr=0.01, foreach=True)",
    "opt = torch.optim.Rprop(net.parameters())",
)
_EXTRAS = (  # before the loop
    "target = copy.deepcopy(net)",
    "net = pickle.loads(pickle.dumps(net)) if not hasattr(net, 'parametrizations') else net\n{opt}",
    "seen = []\nfor p in net.parameters(): p.register_hook(lambda g: seen.append(g.shape) or g * 1.0)",
    "calls = []\nnet.register_forward_hook(lambda m, a, out: calls.append(len(a)))",
    "backward = torch.Tensor.backward\ndef halved(self, *a, **k): return backward(self * 0.5, *a, **k)\n"
    "torch.Tensor.backward = halved",
    "relu = F.relu\nF.relu = lambda *a, **k: relu(*a, **k) * 1.5",
    "warnings.simplefilter('always')",
    "buffer = io.BytesIO(); torch.save(net.state_dict(), buffer); buffer.seek(0)\n"
    "net.load_state_dict(torch.load(buffer))",
    "torch.autograd.set_detect_anomaly(True)",
    "sys.settrace(lambda f, e, a: None)",
    "scheduler = torch.optim.lr_scheduler.StepLR(opt, 2)",
    "torch.set_default_dtype(torch.float32); torch.use_deterministic_algorithms(True)",
)
_FORWARDS = (
    "out = net(x)",
    "out = torch.utils.checkpoint.checkpoint(net, x, use_reentrant=False)",
    "with torch.no_grad(): _ = net(x).argmax(1).tolist()\nout = net(x)",
    "out = net(x).clone(); out[:, 0].mul_(0.5)",
    "out = Twice.apply(net(x))",
    "out = net(x.as_subclass(Sub)).as_subclass(torch.Tensor)",
    "with Counting(): out = net(x)",
    "with Dispatching(): out = net(x)",
    "out = net(x).view(-1, 2).transpose(0, 1).contiguous().t()",
    "box = []\nt = threading.Thread(target=lambda: box.append(net(x))); t.start(); t.join(); out = box[0]",
)
_LOSSES = (
    "loss = F.mse_loss(out, y)",
    "loss = (out - y.detach()).pow(2).mean() + 0.01 * sum(p.abs().sum() for p in net.parameters())",
    "loss = F.cross_entropy(out, y.argmax(1))",
    "d = torch.distributions.Normal(out, 1.0); loss = -(d.log_prob(d.sample()) * y).mean()",
    "loss = F.smooth_l1_loss(F.relu(out), y)",
    "loss = F.mse_loss(out, y[:, :1])",  # warns of its broadcast
)
_STEPS = (
    "opt.zero_grad(); loss.backward(); opt.step()",
    "opt.zero_grad(set_to_none=False); loss.backward(); nn.utils.clip_grad_norm_(net.parameters(), 1.0); opt.step()",
    "opt.zero_grad(); loss.backward(); nn.utils.clip_grad_value_(net.parameters(), 0.1); opt.step()",
    "grads = torch.autograd.grad(loss, list(net.parameters()), allow_unused=True)\n"
    "for p, g in zip(net.parameters(), grads): p.grad = g\nopt.step()",
    "opt.zero_grad(); loss.backward(retain_graph=True); loss.backward(); opt.step()",
    "loss.backward()\nif i % 2: opt.step(); opt.zero_grad()",
    "def closure():\n    opt.zero_grad(); again = net(x).pow(2).mean(); again.backward(); return again\nopt.step(closure)",
)
_ENDS = (
    "",
    "sys.exit(3)",
    "raise KeyError('the end')",
    "net(torch.ones(3, 9, dtype=next(net.parameters()).dtype))",
    "try: torch.ones(2) @ torch.ones(3)\nexcept RuntimeError as error:\n"
    "    import traceback; print(traceback.format_exc())",
    "open('left.txt', 'w').write('x'); around()",
)
_TORCH_CLASSES = """\
import torch.utils.checkpoint
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2


class Sub(torch.Tensor):
    asked = 0
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        Sub.asked += 1
        return super().__torch_function__(f, types, args, kwargs or {})


class Counting(TorchFunctionMode):
    n = 0
    def __torch_function__(self, f, types, args=(), kwargs=None):
        Counting.n += 1
        return f(*args, **(kwargs or {}))


class Dispatching(TorchDispatchMode):
    n = 0
    def __torch_dispatch__(self, f, types, args=(), kwargs=None):
        Dispatching.n += 1
        return f(*args, **(kwargs or {}))

"""
_TORCH_TELLS = """
def tell():
    numbers = lambda ts: digest(*(None if t is None else t.detach().numpy() for t in ts))
    print("weights", numbers(net.parameters()), "buffers", numbers(net.buffers()))
    print("gradients", numbers(p.grad for p in net.parameters()))
    moments = [v for s in opt.state.values() for v in s.values() if isinstance(v, torch.Tensor)]
    print("moments", len(moments), numbers(moments), "torch", digest(torch.get_rng_state().numpy()))
    print("asked", Sub.asked, Counting.n, Dispatching.n, len(globals().get("seen", ())), len(globals().get("calls", ())))
    print("modes", torch.is_grad_enabled(), torch.is_inference_mode_enabled(), net.training)
    around()
"""


def torch_program(number: int) -> str:
    """The source text of one."""
    rng = random.Random(number)
    fill = {"seed": number, "act": rng.choice(("ReLU", "Tanh", "ELU", "Sigmoid"))}
    opt = rng.choice(_OPTIMIZERS).format()
    extras = [e.replace("{opt}", opt) for e in rng.sample(_EXTRAS, rng.choice((0, 1, 1, 2, 3)))]
    body = [rng.choice(_FORWARDS), rng.choice(_LOSSES), rng.choice(_STEPS)]
    kind = "next(net.parameters()).dtype"
    lines = [f"    x, y = torch.randn(6, 4, dtype={kind}), torch.randn(6, 2, dtype={kind})"]
    lines += [f"    {line}" for part in body for line in part.splitlines()]
    if any("scheduler" in e for e in extras):
        lines.append("    scheduler.step()")
    lines.append("    print(i, loss.item().hex())")
    steps = rng.choice((3, 9, 14))
    return (
        _HEAD.format(seed=number)
        + _TORCH_HEAD.format(**fill)
        + _TORCH_CLASSES
        + "\n".join([rng.choice(_NETS).format(**fill), opt, *extras])
        + "\n"
        + _TORCH_TELLS
        + f"\nfor i in range({steps}):\n"
        + "\n".join(lines)
        + "\ntell()\n"
        + rng.choice(_ENDS)
        + "\n"
    )


_TF_NETS = (
    "net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, '{act}'), keras.layers.Dense(2)])",
    "net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.BatchNormalization(), "
    "keras.layers.Activation('{act}'), keras.layers.Dense(2)])",
    "net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, '{act}'), keras.layers.Dropout(0.2, seed=1), "
    "keras.layers.Dense(2)])",
    "net = keras.Sequential([keras.Input((4,)), keras.layers.Reshape((2, 2)), keras.layers.GRU(4), "
    "keras.layers.Dense(2)])",
)
_TF_OPTIMIZERS = (
    "opt = keras.optimizers.SGD(0.05, momentum=0.9)",
    "opt = keras.optimizers.Adam(0.01)",
    "opt = keras.optimizers.RMSprop(0.01, momentum=0.9)",
    "opt = keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True, clipnorm=1.0)",
)
_TF_LOSSES = (
    "loss = tf.reduce_mean(tf.square(net(x, training=True) - y))",
    "loss = tf.reduce_mean(keras.losses.huber(y, net(x, training=True)))",
    "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y), net(x, training=True)))",
)
_TF_STEPS = (
    "opt.apply_gradients(zip(grads, net.trainable_variables))",
    "grads, _ = tf.clip_by_global_norm(grads, 0.5); opt.apply_gradients(zip(grads, net.trainable_variables))",
    "grads = [tf.clip_by_norm(g, 0.5) for g in grads]; opt.apply_gradients(zip(grads, net.trainable_variables))",
)
_TF_ENDS = ("", "sys.exit(3)", "raise KeyError('the end')", "tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))")


def tensorflow_program(number: int) -> str:
    """The same for TensorFlow: eager, compiled, or ``fit``."""
    rng = random.Random(number)
    net = rng.choice(_TF_NETS).format(act=rng.choice(("relu", "tanh", "elu")))
    how = rng.choice(("", "@tf.function", "@tf.function", "@tf.function(reduce_retracing=True)", "fit"))
    head = _HEAD.format(seed=number) + (
        "import tensorflow as tf\nimport keras\n"
        f"keras.utils.set_random_seed({number})\nrng = np.random.default_rng({number})\n"
        f"{net}\n{rng.choice(_TF_OPTIMIZERS)}\n"
    )
    draw = "x, y = (rng.normal(size=(6, n)).astype('float32') for n in (4, 2))"
    if how == "fit":
        loop = f"net.compile(opt, 'mse')\n{draw}\nprint(net.fit(x, y, epochs=4, batch_size=3, verbose=0).history)\n"
    else:
        persistent = rng.choice(("", "persistent=True"))
        loop = (
            f"\n{how}\ndef update(x, y):\n    with tf.GradientTape({persistent}) as tape:\n"
            f"        {rng.choice(_TF_LOSSES)}\n    grads = tape.gradient(loss, net.trainable_variables)\n"
            f"    {rng.choice(_TF_STEPS)}\n    return loss\n\n"
            f"for i in range({rng.choice((3, 8))}):\n    {draw}\n"
            "    print(i, float(update(tf.constant(x), tf.constant(y))).hex())\n"
        )
    tells = (
        "print('weights', digest(*(v.numpy() for v in net.variables)))\n"
        "print('moments', [digest(v.numpy()) for v in opt.variables])\naround()\n"
    )
    return head + loop + tells + rng.choice(_TF_ENDS) + "\n"


PROGRAMS = {"torch": torch_program, "tensorflow": tensorflow_program}
