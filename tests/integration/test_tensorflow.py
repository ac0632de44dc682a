"""Real training with real TensorFlow: the same bits, the same words, the same end."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.choosing import mostly_long

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.forked("tensorflow"),
    pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs tensorflow"),
]

SCRIPTS = Path(__file__).parent / "scripts"


def report(lab):
    return json.loads((lab.folder / "out" / "report.json").read_text())


def watched(lab, *args):
    """Run it under whygrad; quiet, so that all output is the script's."""
    return lab.whygrad("run", "--quiet", "--out", "out", *args)


@pytest.mark.parametrize(
    "mode",
    [
        "eager",
        pytest.param("graph", marks=pytest.mark.forked()),  # real processes, which import it
        pytest.param("xla", marks=pytest.mark.long),
    ],
)
def test_bit_equal_weights_the_same_output_and_no_trace_more(lab, mode):
    shutil.copy(SCRIPTS / "dqn_tf.py", lab.folder)
    alone = lab.python("dqn_tf.py", mode)
    assert alone.code == 0, alone
    weights = (lab.folder / "weights.bin").read_bytes()
    (lab.folder / "weights.bin").unlink()
    assert watched(lab, "dqn_tf.py", mode) == alone
    assert (lab.folder / "weights.bin").read_bytes() == weights
    run = report(lab)
    assert [(u["optimizer"], u["count"]) for u in run["updates"]] == [("optimizer", 50)]
    assert [n for n in run["notes"] if n["kind"] == "internal"] == []
    assert run["findings"] == []


ACTOR_CRITIC = """
import hashlib, sys
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(1)
obs = keras.Input((4,))
x = keras.layers.Dense(8, activation="tanh", name="trunk")(obs)
model = keras.Model(obs, [keras.layers.Dense(2, name="pi")(x), keras.layers.Dense(1, name="v")(x)])
optimizer = keras.optimizers.Adam(1e-2)
def update(s, a, ret):
    with tf.GradientTape() as tape:
        logits, value = model(s)
        error = ret - tf.squeeze(value, -1)
        neglogp = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=logits)
        policy_loss = tf.reduce_mean(neglogp * tf.stop_gradient(error))
        loss = policy_loss + 0.5 * tf.reduce_mean(error**2)
        if "inside" in sys.argv:
            grads = tape.gradient(loss, model.trainable_variables)
    if "inside" not in sys.argv:
        grads = tape.gradient(loss, model.trainable_variables)
    print(tape._persistent, tape._tape is None)  # it looks as if it had never been asked twice
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
if "graph" in sys.argv:
    update = tf.function(update, autograph=False)
for i in range(4):
    s = tf.random.normal((16, 4))
    update(s, tf.constant(np.random.randint(2, size=16)), tf.random.normal((16,)))
print(hashlib.md5(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())
"""


@pytest.mark.parametrize(
    "mode", mostly_long(["inside", "outside", "graph"], {"inside", "graph"}.__contains__)
)
def test_shares_are_asked_of_a_tape_that_answers_once(lab, mode):
    lab.write(ACTOR_CRITIC)
    alone = lab.python("train.py", mode)
    assert alone.code == 0 and "False True" in alone.stdout, alone
    assert watched(lab, "train.py", mode) == alone
    run = report(lab)
    (loss,) = run["gradient_map"]
    shares = [[cell["share"] for cell in term["networks"].values()] for term in loss["terms"]]
    if mode == "graph":
        assert loss["unmeasured"] == "the loss is differentiated in compiled code"
        assert all(share is None for row in shares for share in row)
    else:
        assert loss["unmeasured"] == ""
        trunk, pi, v = zip(*shares, strict=True)
        assert sum(trunk) == pytest.approx(1.0, abs=1e-3) and min(trunk) > 0
        assert (pi, v) == ((1.0, None), (None, 1.0))
    rights = [n["text"] for n in run["notes"] if n["kind"] == "certificate"]
    assert [text.partition(":")[0] for text in rights] == ["`tf.stop_gradient` at train.py"]
    assert [f for f in run["findings"] if f["severity"] != "note"] == []


START = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
actor = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
states = tf.constant(np.random.randn(8, 3).astype("float32"))
"""


@pytest.mark.parametrize("decorator", mostly_long(["", "@tf.function"], "@tf.function".__eq__))
def test_the_error_stays_as_it_is_and_the_diagnosis_follows(lab, decorator):
    lab.write(
        START
        + f"""
{decorator}
def update():
    with tf.GradientTape() as tape:
        action = tf.stop_gradient(actor(states))
        loss = -tf.reduce_mean(critic(tf.concat([states, action], axis=1)))
    gradients = tape.gradient(loss, actor.trainable_variables)
    optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
update()
"""
    )
    alone = lab.python("train.py")
    assert "No gradients provided for any variable" in alone.stderr
    done = lab.whygrad("run", "--out", "out", "train.py")
    assert (done.code, done.stdout) == (1, alone.stdout)
    assert done.stderr.startswith(alone.stderr)
    (finding,) = report(lab)["findings"]
    assert (finding["rule"], finding["network"]) == ("detached", "actor")
    assert finding["site"]["code"] == "action = tf.stop_gradient(actor(states))"
    assert finding["subjects"][0].startswith("actor.dense")
    assert any(step["cut"] for step in finding["chain"])


def test_other_errors_are_left_alone(lab):
    lab.write(START + "@tf.function\ndef broken(x):\n    return actor(x)\nbroken(tf.ones((2, 5)))\n")
    alone = lab.python("train.py")
    assert alone.code == 1
    assert watched(lab, "train.py") == alone


def test_the_runtime_can_still_be_configured_and_everything_is_put_back(lab):
    lab.write(
        """
        import tensorflow as tf, keras
        tf.config.threading.set_intra_op_parallelism_threads(1)
        before = [tf.GradientTape.gradient, keras.layers.Layer.__new__, tf.Variable.__init__]
        print(tf.config.threading.get_intra_op_parallelism_threads(), keras.layers.Dense(2).name)
        """
    )
    alone = lab.python("train.py")
    assert alone.code == 0, alone
    assert watched(lab, "train.py") == alone
    lab.write(
        """
        import tensorflow as tf, keras
        from tensorflow.python.framework import op_callbacks
        from tensorflow.python import pywrap_tfe
        import whygrad
        weight = tf.Variable(1.0)
        def state():
            found = [tf.GradientTape.__dict__, keras.layers.Layer.__dict__, keras.optimizers.SGD.__mro__[-1].__dict__]
            found += [type(weight).__dict__]
            clips = tf.clip_by_norm, tf.clip_by_global_norm, tf.compat.v1.clip_by_value
            return [dict(d) for d in found], clips, pywrap_tfe.TFE_Py_FastPathExecute, op_callbacks.should_invoke_op_callbacks()
        before = state()
        with whygrad.watching() as run:
            tf.ones(2) + 1.0
            assert state() != before
        assert state() == before
        print("as it was")
        """
    )
    done = lab.python("train.py")
    assert done.stdout == "as it was\n", done.stderr


def test_a_training_loop_in_a_thread(lab):
    lab.write(
        START
        + """
import threading
def train():
    for _ in range(3):
        with tf.GradientTape() as tape:
            action = tf.round(actor(states))
            loss = -tf.reduce_mean(critic(tf.concat([states, action], axis=1)))
        variables = actor.trainable_variables + critic.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
thread = threading.Thread(target=train)
thread.start()
thread.join()
"""
    )
    assert watched(lab, "train.py").code == 0
    (finding,) = report(lab)["findings"]
    assert (finding["rule"], finding["network"]) == ("nondifferentiable-op", "actor")


def test_check_ends_a_compiled_training_early(lab):
    lab.write(
        START
        + """
@tf.function
def update():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(actor(states)))
    optimizer.apply_gradients(zip(tape.gradient(loss, actor.trainable_variables), actor.trainable_variables))
for step in range(100_000):
    update()
print("the end")
"""
    )
    done = lab.whygrad("check", "--out", "out", "train.py")
    assert (done.code, done.stdout) == (0, ""), done
    assert report(lab)["updates"][0]["networks"] == ["actor"]


@pytest.mark.forked()  # in real processes, each of which imports its framework
def test_torch_and_tensorflow_leave_each_other_alone(lab):
    lab.write("import torch, sys\nprint('tensorflow' in sys.modules)")
    assert lab.whygrad("run", "--quiet", "--out", "out", "train.py").stdout == "False\n"
    lab.write("import tensorflow, sys\nprint('torch' in sys.modules)")
    assert lab.whygrad("run", "--quiet", "--out", "out", "train.py").stdout == "False\n"


@pytest.mark.forked()  # in real processes, each of which imports its framework
def test_a_real_tf_agents_agent(lab):
    pytest.importorskip("tf_agents")
    lab.write(
        """
        import os
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        import numpy as np, tensorflow as tf
        from tf_agents.agents.dqn import dqn_agent
        from tf_agents.networks import q_network
        from tf_agents.specs import tensor_spec
        from tf_agents.trajectories import time_step as ts, trajectory
        from tf_agents.utils import common
        obs = tensor_spec.TensorSpec((4,), tf.float32)
        act = tensor_spec.BoundedTensorSpec((), tf.int32, 0, 1)
        q_net = q_network.QNetwork(obs, act, fc_layer_params=(8,))
        agent = dqn_agent.DqnAgent(ts.time_step_spec(obs), act, q_network=q_net,
                                   optimizer=tf.keras.optimizers.Adam(1e-3), target_update_period=2)
        agent.initialize()
        agent.train = common.function(agent.train)
        rng = np.random.default_rng(0)
        ones = tf.ones((8, 2))
        for _ in range(5):
            batch = trajectory.Trajectory(tf.cast(ones, tf.int32), tf.constant(rng.normal(size=(8, 2, 4)), tf.float32),
                tf.constant(rng.integers(2, size=(8, 2)), tf.int32), (), tf.cast(ones, tf.int32), ones, ones)
            agent.train(batch)
        """
    )
    done = watched(lab, "train.py")
    assert done.code == 0, done.stderr
    run = report(lab)
    assert run["findings"] == []
    assert [n for n in run["notes"] if n["kind"] == "internal"] == []
    (update,) = run["updates"]
    assert update["count"] == 5
    assert update["networks"] == ["q_net"] or update["networks"][0].startswith("q_net")


SAVED = """
import sys
import tensorflow as tf

class Learner(tf.Module):
    def __init__(self):
        self.weights = tf.Variable(tf.random.stateless_normal((4, 2), (1, 2)))
        self.optimizer = tf.keras.optimizers.Adam(0.01, clipnorm=0.5)
        self.optimizer.build([self.weights])

    @tf.function(input_signature=[tf.TensorSpec((8, 4))])
    def train(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ self.weights)))
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, [self.weights]), 0.05)
        self.optimizer.apply_gradients(zip(gradients, [self.weights]))
        return loss

if len(sys.argv) > 1:
    learner = Learner()
    for _ in range(5):
        learner.train(tf.ones((8, 4)))
    tf.saved_model.save(learner, sys.argv[1])
else:
    loaded = tf.saved_model.load("saved")
    print(float(loaded.train(tf.ones((8, 4)))) > float(loaded.train(tf.ones((8, 4)))))
"""


@pytest.mark.tensorflow
@pytest.mark.long
def test_a_compiled_update_can_be_saved_and_loaded_elsewhere(lab):
    lab.write(SAVED)
    for verb in (["run"], ["run", "--watch", "--every", "2"]):
        done = lab.whygrad(*verb, "train.py", "saved")
        assert done.code in (0, 1) and "untracked" not in done.stderr, done.stderr[-2000:]
        assert (lab.folder / "saved" / "saved_model.pb").is_file()
        assert lab.python("train.py").stdout == "True\n"


KINDS = """
import tensorflow as tf

x = tf.ones((4, 4))
optimizer = tf.keras.optimizers.SGD(0.1)
w = tf.Variable(x)

def kinds():
    with tf.GradientTape() as tape:
        parts = tf.split(x * w, 2)
        loss = tf.reduce_sum(parts.pop(0))
    print(type(parts), type(tf.unstack(x)), type(tf.linalg.svd(x)), type(tf.raw_ops.IdentityN(input=[x, x])))
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])

kinds()
tf.function(kinds)()
"""


def test_lists_stay_lists(same):
    assert same(KINDS).stdout.count("list") == 6


STRICT = """
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()
w = tf.Variable(tf.random.normal((3, 2)))
optimizer = tf.keras.optimizers.Adam(0.01)

@tf.function(input_signature=[tf.TensorSpec(None)])
def update(x):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.reshape(x, (-1, 3)) @ w)
        loss = tf.reduce_mean(tf.nn.dropout(hidden, 0.3)) + tf.reduce_mean(tf.nn.relu(x))
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])

@tf.function
def perhaps(x, yes):
    if yes:
        update(x)

for n in range(40):
    update(tf.random.normal((4, 3)))
    perhaps(tf.random.normal((4, 3)), tf.constant(n % 3 == 0))
print(w.numpy().tolist())
"""


@pytest.mark.long
def test_deterministic_mode_unknown_shapes_and_updates_that_may_happen(lab, same):
    same(STRICT)
    done = watched(lab, "--watch", "--every", "3", "train.py")
    assert done.stdout == lab.python("train.py").stdout
    assert [u["count"] for u in report(lab)["updates"]] == [54]
    assert (report(lab)["watched"]["updates"], report(lab)["watched"]["late"]) == (18, 0)


TWO_TERMS = """
import tensorflow as tf
actor, critic = (tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(2)]) for _ in range(2))
optimizer = tf.keras.optimizers.SGD(0.01)
{decorator}
def step(s):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(critic(s)) + 0.1 * tf.reduce_mean(tf.square(actor(s)))
    variables = actor.trainable_variables + critic.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
for _ in range(8):
    step(tf.ones((3, 2)))
"""


@pytest.mark.parametrize("decorator", ["", "@tf.function"], ids=["eager", "compiled"])
def test_two_terms_of_one_line_are_named_in_their_order(lab, decorator):
    script = lab.write(TWO_TERMS.format(decorator=decorator))
    assert watched(lab, str(script)).code == 0
    rows = report(lab)["gradient_map"][0]["terms"]
    reached = [{n for n, cell in row["networks"].items() if cell["reached"]} for row in rows]
    assert [("critic" in row["name"], names) for row, names in zip(rows, reached, strict=True)] == [
        (True, {"critic"}),
        (False, {"actor"}),
    ]


LOCAL = """
import keras, tensorflow as tf
keras.utils.set_random_seed(1)
def main():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.1)
    @tf.function
    def update(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - 1.0) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    for _ in range(70):
        update(tf.random.normal((8, 3)))
main()
"""


def test_steps_of_an_optimizer_that_is_gone_at_the_end_are_counted(lab):
    lab.write(LOCAL)
    assert watched(lab, "train.py").code == 0
    assert [u["count"] for u in report(lab)["updates"]] == [70]
