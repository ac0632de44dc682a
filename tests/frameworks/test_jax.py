"""The JAX backend beside the same script without it: the same bits, the same compiles, the same output."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")
pytestmark = pytest.mark.jax

SCRIPT = """
import hashlib
import jax, jax.numpy as jnp, numpy as np, optax
from jax import monitoring

counts = {}
def heard(event, duration, **more):
    counts[event] = counts.get(event, 0) + 1
monitoring.register_event_duration_secs_listener(heard)

def net(p, x):
    return jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]

def loss_fn(p, target, s, r, s2):
    y = jax.lax.stop_gradient(r + 0.9 * net(target, s2).max(1))
    return jnp.mean((net(p, s)[:, 0] - y) ** 2)

k1, k2 = jax.random.split(jax.random.PRNGKey(0))
params = {"w1": jax.random.normal(k1, (4, 8)), "b1": jnp.zeros(8), "w2": jax.random.normal(k2, (8, 2))}
target = params
tx = optax.adam(1e-2)
state = tx.init(params)

@jax.jit
def update(params, target, state, s, r, s2):
    loss, grads = jax.value_and_grad(loss_fn)(params, target, s, r, s2)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state, loss

rng = np.random.default_rng(0)
for step in range(30):
    s, s2 = rng.normal(size=(2, 16, 4)).astype(np.float32)
    params, state, loss = update(params, target, state, s, s[:, 0], s2)
    if step % 10 == 0:
        target = params
        loss_eager, grads = jax.value_and_grad(loss_fn)(params, target, s, s[:, 0], s2)
print(float(loss), float(loss_eager), update._cache_size())
print(sorted((e, n) for e, n in counts.items() if "compile" in e or "trace" in e))
print(hashlib.md5(b"".join(np.asarray(v).tobytes() for v in jax.tree.leaves((params, state)))).hexdigest())
try:
    update(params, target, state, np.ones((16, 5), np.float32), s[:, 0], s2)
except TypeError as error:
    import traceback
    print(any("whygrad" in frame.filename for frame in traceback.extract_tb(error.__traceback__)))
"""


def output(tmp_path, *command: str) -> str:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, *command, "train.py"],
        cwd=tmp_path,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_bits_the_compiles_and_the_output_are_those_of_the_script_alone(tmp_path):
    alone = output(tmp_path)
    assert "False" in alone.splitlines()[-1]
    assert output(tmp_path, "-m", "whygrad", "run", "--quiet") == alone


EAGER = """
import jax, jax.numpy as jnp, numpy as np, optax

def net(p, x):
    return jnp.tanh(x @ p["w1"]) @ p["w2"]

k1, k2 = jax.random.split(jax.random.PRNGKey(0))
params = {"w1": jax.random.normal(k1, (4, 8)), "w2": jax.random.normal(k2, (8, 1))}
rng = np.random.default_rng(0)

def loss_fn(p, x, y):
    return jnp.mean((net(p, x)[:, 0] - y) ** 2)

BEFORE
for step in range(40):
    x = rng.normal(size=(16, 4)).astype(np.float32)
    grads = jax.grad(loss_fn)(params, x, x[:, 0])
    STEP
"""
BY_HAND = "pass", "params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)"
OPTAX = (
    "tx = optax.adam(optax.linear_schedule(0.0, 1e-2, 10)); state = tx.init(params)",
    "up, state = tx.update(grads, state); params = optax.apply_updates(params, up)",
)
FROZEN = (
    "tx = optax.multi_transform({0: optax.adam(1e-2), 1: optax.set_to_zero()}, {'w1': 1, 'w2': 0}); "
    "state = tx.init(params)",
    OPTAX[1],
)


@pytest.mark.parametrize(
    ("before", "step"), [BY_HAND, OPTAX, FROZEN], ids=["by hand", "optax", "a part is frozen"]
)
def test_eager_updates_are_counted_and_only_a_few_recorded(tmp_path, before, step):
    (tmp_path / "train.py").write_text(EAGER.replace("BEFORE", before).replace("STEP", step))
    done = subprocess.run(
        [sys.executable, "-m", "whygrad", "run", "--json", "out.json", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["findings"] == [], done.stderr
    assert [u["count"] for u in report["updates"]] == [40]
    assert report["updates"][0]["recorded"] < 10
    assert report["verdict"] == "no fault found"
    assert any("judged in part only" in doubt for doubt in report["doubts"])
    assert "judged in part only" in done.stderr


FAILS = """
import jax, jax.numpy as jnp, optax
params = {"w": jnp.ones(3)}
tx = optax.sgd(0.1)
state = tx.init(params)
def loss_fn(params, x):
    LOSS
for n in range(8):
    grads = jax.grad(loss_fn)(params, jnp.ones(3 if n < FIRST else 4))
    updates, state = tx.update(grads, state)
    params = optax.apply_updates(params, updates)
"""


@pytest.mark.parametrize("first", [0, 6])
@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ('return (params["w"] * x).sum()', "incompatible shapes for broadcasting"),
        ('return (params["w"] * x).sum() if x.size < 4 else None', "Output was None"),
    ],
)
def test_an_error_inside_of_the_loss_accuses_nobody(tmp_path, loss, message, first):
    (tmp_path / "train.py").write_text(FAILS.replace("LOSS", loss).replace("FIRST", str(first)))
    done = subprocess.run(
        [sys.executable, "-m", "whygrad", "run", "--json", "out.json", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    report = json.loads((tmp_path / "out.json").read_text())
    assert done.returncode == 1 and message in report["exception"]["message"]
    assert (report["findings"], report["verdict"]) == ([], "no fault found" if first else "not judged")
    assert [n for n in report["notes"] if n["kind"] == "internal"] == [], done.stderr
