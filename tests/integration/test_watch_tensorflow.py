"""Summaries of real Keras, tf.function and TF-Agents training, as TensorBoard's own reader sees them."""

import pytest
from tests.events import load, values

TRAIN = """
import hashlib
import keras, tensorflow as tf
import whygrad

SCHEDULES = {"no": False, "True": True, "5": 5, "callable": lambda n, name: n in (2, 3, 11) and name == "optimizer"}
UPDATES = 20
keras.utils.set_random_seed(0)
batches = tf.random.normal((UPDATES, 8, 4))

def train(kind, wanted):
    keras.utils.set_random_seed(0)
    q_net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
    optimizer = keras.optimizers.Adam(0.01, clipnorm=0.05)
    traces = []

    def update(x):
        traces.append(1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(q_net(x)))
        gradients = tape.gradient(loss, q_net.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
        optimizer.apply_gradients(zip(gradients, q_net.trainable_variables))

    if kind in ("function", "xla"):
        update = tf.function(update, jit_compile=kind == "xla")
    with whygrad.watching(SCHEDULES[wanted], out=f"{kind}-{wanted}") as run:
        if kind == "fit":
            q_net.compile(optimizer, "mse")
            q_net.fit(tf.reshape(batches, (-1, 4)), tf.zeros((UPDATES * 8, 2)), batch_size=8, verbose=0, shuffle=False)
        else:
            for n in range(UPDATES):
                update(batches[n])
    assert not run.result.watched or not run.result.watched.trouble, run.result.watched
    assert kind == "eager" or len(traces) <= 2, traces
    digest = hashlib.md5(b"".join(w.tobytes() for w in q_net.get_weights())).hexdigest()
    print(kind, wanted, digest)

for kind in ("eager", "function"):
    for wanted in SCHEDULES:
        train(kind, wanted)
for kind in ("xla", "fit"):
    train(kind, "no")
    train(kind, "5")
"""

EXPECTED = {"True": list(range(1, 21)), "5": [5, 10, 15, 20], "callable": [2, 3, 11]}


@pytest.mark.forked("tensorflow")
@pytest.mark.tensorflow
@pytest.mark.long
def test_schedules_are_honoured_without_another_trace_and_weights_are_equal(lab):
    lab.write(TRAIN)
    lab.timeout = 300  # a dozen trainings in one process
    done = lab.python("train.py")
    assert done.code == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 12
    assert len({(kind, digest) for kind, _, digest in lines}) == 4
    for kind, wanted, _ in lines:
        if wanted == "no":
            continue
        found = load(lab.folder / f"{kind}-{wanted}")
        tags = found.Tags()
        assert {tuple(e.step for e in found.Scalars(t)) for t in tags["scalars"]} == {tuple(EXPECTED[wanted])}
        assert len(tags["scalars"]) == 4 * 18 + 7
        assert len(tags["histograms"]) == 8
        assert any(t.startswith("q_net.") and t.endswith(".kernel/gradients/mean") for t in tags["scalars"])
        after = {e.step: e.value for e in found.Scalars("optimizer/gradient_norm")}
        before = {e.step: e.value for e in found.Scalars("optimizer/gradient_norm_before_clip")}
        assert all(before[n] >= after[n] for n in after)
        assert max(after.values()) <= 0.05 * 2 + 1e-6  # four variables, 0.05 each
        assert all(e.value > 0 for e in found.Scalars("optimizer/loss"))


ODD = """
import tensorflow as tf
import whygrad

def train(kind):
    table = tf.Variable(tf.random.normal((20, 4)), name="table")
    idle = tf.Variable(tf.ones((3,)), name="idle")
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)

    def update():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, [3, 3, 7]) * 2.0)
        variables = [table, idle]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    if kind == "function":
        update = tf.function(update)
    elif kind == "loop":
        inner = tf.function(update)
        @tf.function
        def update():
            for _ in tf.range(2):
                inner()
    with whygrad.watching(True, out=kind) as run:
        for _ in range(4):
            update()
    print(kind, run.result.watched.late, run.result.watched.trouble, *(n.text for n in run.result.notes))

for kind in ("eager", "function", "loop"):
    train(kind)
"""


@pytest.mark.forked("tensorflow")
@pytest.mark.tensorflow
def test_sparse_and_missing_gradients_and_loops(lab):
    lab.write(ODD)
    done = lab.python("train.py")
    assert done.code == 0, done.stderr[-3000:]
    eager, function, loop = done.stdout.splitlines()
    assert (eager.split()[:2], function.split()[:2]) == (["eager", "0"], ["function", "0"])
    assert loop.startswith("loop 4") and "several were made in one call" in loop
    for kind in ("eager", "function", "loop"):
        out = lab.folder / kind
        last = 8 if kind == "loop" else 4
        norm = values(out, "table/gradients/norm")
        assert set(norm) == ({2, 4, 6, 8} if kind == "loop" else {1, 2, 3, 4})
        assert norm[last] == pytest.approx((4 * 4.0**2 + 4 * 2.0**2) ** 0.5)  # row 3 is there twice
        assert values(out, "table/gradients/zeros")[last] == pytest.approx(1 - 8 / 80)
        assert values(out, "idle/gradients/absent")[last] == 1.0
        assert values(out, "table/variable/norm")[last] > 0


SHAPES = """
import tensorflow as tf
import whygrad
from whygrad.frameworks.tensorflow import private

def train(kind, dtype=tf.float32):
    weights = tf.Variable(tf.cast([[1.0, -2.0], [0.5, 0.0]], dtype), name="weights")
    scale = tf.Variable(tf.cast(3.0, dtype), name="scale")
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.125)

    def update(again=tf.constant(True)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.abs(weights * scale)))
        variables = [weights, scale]
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), tf.cast(0.5, loss.dtype))
        optimizer.apply_gradients(zip(gradients, variables))

    compiled = {
        "twice": lambda: [update(), update()] and None,
        "branch": lambda again: tf.cond(again, lambda: update() or 1, lambda: 0),
    }.get(kind, update)
    compiled = tf.function(compiled) if kind != "eager" else compiled
    with whygrad.watching(4 if kind == "twice" else True, out=f"{kind}-{dtype.name}") as run:
        for n in range(4):
            compiled(*([tf.constant(n % 2 == 1)] if kind == "branch" else []))
    print(kind, run.result.watched.late, run.result.watched.trouble)

for kind in ("eager", "function", "twice", "branch"):
    train(kind)
for dtype in (tf.float16, tf.bfloat16, tf.float64):
    train("eager", dtype)
    train("function", dtype)
private.only_cpu = lambda: False  # as on a machine with a GPU: every tensor leaves by itself
train("apart")
"""


@pytest.mark.forked("tensorflow")
@pytest.mark.tensorflow
def test_a_compiled_update_tells_what_an_eager_one_tells(lab):
    lab.write(SHAPES)
    done = lab.python("train.py")
    assert done.code == 0, done.stderr[-3000:]
    assert {tuple(line.split()[1:]) for line in done.stdout.splitlines()} == {("0",)}
    pairs = [
        (f"eager-{dtype}", f"function-{dtype}") for dtype in ("float16", "bfloat16", "float64", "float32")
    ]
    for one, other in [*pairs, ("function-float32", "apart-float32")]:
        expected, found = load(lab.folder / one), load(lab.folder / other)
        tags = expected.Tags()["scalars"]
        assert tags == found.Tags()["scalars"]
        assert "weights/gradients/norm_before_clip" in tags and "optimizer/loss" in tags
        for tag in tags:
            events = [[(e.step, e.value) for e in run.Scalars(tag)] for run in (expected, found)]
            assert [step for step, _ in events[1]] == [1, 2, 3, 4]
            assert [value for _, value in events[1]] == pytest.approx(
                [value for _, value in events[0]], rel=0.01
            )
    assert set(values(lab.folder / "twice-float32", "scale/variable/mean")) == {4, 8}
    assert set(values(lab.folder / "branch-float32", "scale/variable/mean")) == {1, 2}


AGENT = """
import sys
import numpy as np, tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.networks import q_network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts, trajectory
from tf_agents.utils import common
import whygrad

observation = tensor_spec.TensorSpec((4,), tf.float32)
action = tensor_spec.BoundedTensorSpec((), tf.int32, 0, 1)
tf.random.set_seed(0)
q_net = q_network.QNetwork(observation, action, fc_layer_params=(8,))
optimizer = tf.keras.optimizers.Adam(0.01)
agent = dqn_agent.DqnAgent(
    ts.time_step_spec(observation), action, q_network=q_net, optimizer=optimizer,
    td_errors_loss_fn=common.element_wise_squared_loss, gradient_clipping=0.1,
)
agent.initialize()
agent.train = common.function(agent.train)

def batch(n=8):
    zeros = tf.zeros((n, 2))
    return trajectory.Trajectory(
        step_type=tf.ones((n, 2), tf.int32), observation=tf.random.normal((n, 2, 4)),
        action=tf.random.uniform((n, 2), 0, 2, tf.int32), policy_info=(),
        next_step_type=tf.ones((n, 2), tf.int32), reward=zeros + 1.0, discount=zeros + 1.0,
    )

schedules = {"True": True, "5": 5, "callable": lambda n: n in (2, 3, 11)}
for name, schedule in schedules.items():
    with whygrad.watching(schedule, out=name) as run:
        for _ in range(20):
            agent.train(batch())
    assert not run.result.watched.trouble, run.result.watched.trouble
print("done")
"""


@pytest.mark.tensorflow
@pytest.mark.long
def test_a_real_dqn_agent(lab):
    lab.env["TF_USE_LEGACY_KERAS"] = "1"
    lab.write(AGENT)
    done = lab.python("train.py")
    assert done.stdout.endswith("done\n"), done.stderr[-2000:]
    for wanted, expected in EXPECTED.items():
        found = load(lab.folder / wanted)
        scalars = found.Tags()["scalars"]
        assert {tuple(e.step for e in found.Scalars(tag)) for tag in scalars} == {tuple(expected)}
        assert any(tag.endswith("kernel/gradients/norm_before_clip") for tag in scalars)
        assert any(tag.startswith("q_net") for tag in scalars)
