"""The agent: the network and the update of the original, and learning that can be seen."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from whygrad.zoo.agents import snake_dqn
from whygrad.zoo.agents.snake_dqn import Adam, Agent, Average, build_network, evaluate, parse, td_loss, train
from whygrad.zoo.parity import vectors
from whygrad.zoo.parity.case import TRAINING
from whygrad.zoo.parity.dropping import Masks
from whygrad.zoo.parity.keras_side import fixed_dropout

SMALL = Path(__file__).parents[1] / "data" / "small"
SCRIPT = Path(snake_dqn.__file__)
TINY = "--height 5 --width 5 --filters 32 --units 64 --dropout 0 --quiet --seed 1".split()  # noqa: SIM905
QUICK = [*TINY, *"--steps 260 --replay 128 --prefill 64 --batch 16 --sync 50".split()]  # noqa: SIM905


def test_the_network_of_the_original():
    network = build_network(9, 9)
    assert network.count_params() == 1_120_019
    assert sum(int(np.prod(v.shape)) for v in network.trainable_variables) == 1_119_251
    kinds = [type(layer).__name__ for layer in network.layers]
    assert kinds == [
        "Conv2D",
        "BatchNormalization",
        "Conv2D",
        "BatchNormalization",
        "Conv2D",
        "Flatten",
        "Dense",
        "Dropout",
        "Dense",
    ]
    kernel = network.layers[4].get_weights()[0]
    sigma = np.sqrt(2 / (9 * 256 + 9 * 256))
    assert abs(kernel.std() / sigma - 0.880) < 0.005  # cut at two deviations, not made up for
    assert np.abs(kernel).max() <= 2 * sigma * 1.0001


def test_the_update_of_the_original():
    """Three updates with the agent's own loss, network and Adam give the weights that TensorFlow.js has."""
    case = vectors.read(SMALL)
    online, target = (build_network(9, 9, (4, 8, 8), 10) for _ in range(2))
    for network, model in ((online, case.online), (target, case.target)):
        for variable, array in zip(network.weights, _keras_order(model), strict=True):
            variable.assign(array)
    target.trainable = False
    optimizer, b = Adam(1e-3, epsilon=1e-7), case.batch
    batch = (b.states.astype("uint8"), b.actions, b.rewards, b.dones, b.next_states.astype("uint8"))
    with fixed_dropout(Masks(b)):
        for i, step in enumerate(case.adam):
            with tf.GradientTape() as tape:
                loss = td_loss(online, target, batch, b.gamma)
            gradients = tape.gradient(loss, online.trainable_variables)
            optimizer.apply_gradients(zip(gradients, online.trainable_variables, strict=True))
            if i == 0:
                assert float(loss) == pytest.approx(case.reference[TRAINING].loss, rel=1e-6)
            wanted = _keras_order(case.online, step.weights)
            assert (
                max(np.abs(v.numpy() - w).max() for v, w in zip(online.weights, wanted, strict=True)) < 1e-5
            )
    assert i == 2


def _keras_order(model, weights=None):
    """Layer by layer, as Keras lists them."""
    return [(weights or model.weights)[key] for key in model.network.weight_shapes()]


def test_one_trace_serves_a_whole_training():
    agent = train(parse(QUICK))
    assert agent.update.experimental_get_tracing_count() == 1
    assert agent.values.experimental_get_tracing_count() == 1


def test_the_same_seed_gives_the_same_network():
    first, second = (train(parse(QUICK)).online.get_weights() for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_the_target_is_a_copy_at_the_start_unless_faithful():
    def equal(args):
        agent = Agent(parse(args), np.random.default_rng(0))
        pairs = zip(agent.online.get_weights(), agent.target.get_weights(), strict=True)
        return all(np.array_equal(a, b) for a, b in pairs)

    assert equal(QUICK)
    assert not equal([*QUICK, "--faithful"])


def test_averages_are_padded_only_if_faithful():
    assert Average(faithful=True).add(50.0) == 0.5
    assert Average(faithful=False).add(50.0) == 50.0


def test_the_best_network_is_kept(tmp_path):
    goal = ["--goal", "-100", "--steps", "3000"]  # reached as soon as there are 100 episodes
    args = [*QUICK, *goal, "--save", str(tmp_path)]
    assert snake_dqn.main(args) == 0
    rows = list(csv.DictReader((tmp_path / "progress.csv").open()))
    assert len(rows) == 100  # it stopped there, and the one that reached the goal is on disk
    best, last = (keras.saving.load_model(tmp_path / f"{name}.keras") for name in ("best", "last"))
    assert all(np.array_equal(a, b) for a, b in zip(best.get_weights(), last.get_weights(), strict=True))
    assert snake_dqn.main([*args, "--faithful", "--goal", "-0.05"]) == 0


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--filters", "8,8,8"], "3 convolutions of 3x3 do not fit on 5 x 5 squares"),
        (["--length", "9"], "a snake of 9 and 1 fruit do not fit"),
        (["--fruits", "99"], "99 fruit do not fit"),
    ],
)
def test_what_does_not_fit(args, sentence, capsys):
    assert snake_dqn.main([*QUICK, *args]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.long
def test_it_learns():
    """On 5 x 5 squares, ten times as much fruit as before the training, over 100 games without exploration."""
    schedule = "--steps 11000 --replay 11000 --prefill 500 --epsilon-frames 5000 --sync 100 --gamma 0.9"
    args = parse([*TINY, *schedule.split(), "--learning-rate", "0.002"])
    untrained = evaluate(Agent(args, np.random.default_rng(1)), args)
    trained = evaluate(train(args), args)
    assert trained >= 10 * untrained, (trained, untrained)
    assert trained > 1.0


def test_training_under_whygrad_is_silent(tmp_path):
    command = [sys.executable, "-m", "whygrad", "run", "--json", "report.json", str(SCRIPT), *QUICK]
    env = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert [f["rule"] for f in report["findings"] if f["severity"] != "note"] == []
    assert not [note for note in report["notes"] if note["kind"] == "internal"], report["notes"]
    assert [update["count"] for update in report["updates"]] == [260 - 64]


@pytest.mark.long
def test_the_script_stands_alone(tmp_path):
    shutil.copy(SCRIPT, tmp_path / "mine.py")
    env = os.environ | {"PYTHONPATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    code = "import sys; sys.modules['whygrad'] = None; import mine; sys.exit(mine.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, *QUICK], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
