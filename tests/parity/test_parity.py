"""Gradient for gradient: the vectors of the real TensorFlow.js, honest ports, and every mistake named."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from whygrad.cli.main import main
from whygrad.zoo.parity import comparing, sides, vectors
from whygrad.zoo.parity.case import MOVING, TRAINING
from whygrad.zoo.parity.keras_side import KerasSide
from whygrad.zoo.parity.mistakes import IN_GRADIENTS, IN_MOVING
from whygrad.zoo.parity.setup import Setup
from whygrad.zoo.parity.torch_side import TorchSide

HERE = Path(__file__).parent
VECTORS = HERE.parent / "data" / "small"
TORCH, KERAS = (HERE / name for name in ("port_torch.py", "port_keras.py"))

TORCH_MISTAKES = [
    ("batch-norm-epsilon", "EPS, MOMENTUM, RATE = 1e-3", "EPS, MOMENTUM, RATE = 1e-5"),
    ("flatten-order", "x.permute(0, 2, 3, 1).flatten(1)", "x.flatten(1)"),
    ("kernel-layout", "w.transpose(3, 2, 0, 1)", "w.transpose(3, 2, 1, 0)"),
    ("input-channels", "= batch.states, batch.next_states", "= batch.states.flip(1), batch.next_states.flip(1)"),
    ("batch-norm-mode", "    target.eval()", "    target.eval(); online.bn1.eval(); online.bn2.eval()"),
    ("inference-mode", "    target.eval()", "    target.eval(); online.eval()"),
    ("target-mode", "    target.eval()", "    target.train()"),
    ("target-mode", "    target.eval()", "    target.train(); target.drop.eval()"),
    ("no-dropout", "self.drop(F.relu(self.fc1(x)))", "F.relu(self.fc1(x))"),
    ("dropout-unscaled", "self.drop(F.relu(self.fc1(x)))", "self.drop(F.relu(self.fc1(x))) * (0.75 if self.training else 1)"),
    ("done-mask", " * (1 - batch.dones)", ""),
    ("sum-not-mean", "((goal - q) ** 2).mean()", "((goal - q) ** 2).sum()"),
    ("half-loss", "((goal - q) ** 2).mean()", "((goal - q) ** 2).mean() / 2"),
    ("huber-loss", "((goal - q) ** 2).mean()", "F.smooth_l1_loss(q, goal)"),
    ("absolute-loss", "((goal - q) ** 2).mean()", "F.l1_loss(q, goal)"),
    ("double-q", "target(next_states).max(1).values",
     "target(next_states).gather(1, online(next_states).argmax(1, keepdim=True)).squeeze(1)"),
    ("no-target-network", "target(next_states).max", "online(next_states).max"),
    ("mean-not-max", "target(next_states).max(1).values", "target(next_states).mean(1)"),
    ("gamma", "batch.gamma * best", "0.95 * best"),
    ("batch-norm-order", "self.bn1(F.relu(self.conv1(x)))\n        x = self.bn2(F.relu(self.conv2(x)))",
     "F.relu(self.bn1(self.conv1(x)))\n        x = F.relu(self.bn2(self.conv2(x)))"),
    ("batch-norm-momentum", "MOMENTUM, RATE = 1e-3, 0.01", "MOMENTUM, RATE = 1e-3, 0.1"),
    ("batch-norm-momentum", "MOMENTUM, RATE = 1e-3, 0.01", "MOMENTUM, RATE = 1e-3, 0.99"),
    ("unbiased-variance", "Norm(nn.BatchNorm2d):", "Norm(nn.BatchNorm2d):\n    pass\n\nclass Unused(nn.BatchNorm2d):"),
    ("adam-epsilon", ", eps=1e-7", ""),
    ("learning-rate", "lr=1e-3", "lr=1e-4"),
    ("weight-decay", "optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)", "optim.AdamW(model.parameters(), lr=1e-3)"),
    ("not-adam", "optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)", "optim.SGD(model.parameters(), lr=1e-3)"),
]  # fmt: skip

KERAS_MISTAKES = [
    ("batch-norm-epsilon", "layers.BatchNormalization()", "layers.BatchNormalization(epsilon=1e-5)"),
    ("batch-norm-momentum", "layers.BatchNormalization()", "layers.BatchNormalization(momentum=0.9)"),
    ("no-dropout", "        layers.Dropout(0.25),\n", ""),
    ("inference-mode", "training=training", "training=False"),
    ("target-mode", "target(batch.next_states, training=False)", "target(batch.next_states, training=True)"),
    ("done-mask", " * (1 - batch.dones)", ""),
    ("sum-not-mean", "tf.reduce_mean(tf.square", "tf.reduce_sum(tf.square"),
    ("huber-loss", "tf.reduce_mean(tf.square(goal - q))", "keras.losses.Huber()(goal, q)"),
    ("action-mask", "tf.reduce_mean(tf.square(goal - q))", "tf.reduce_mean(tf.one_hot(batch.actions, 3) * tf.square(goal - q)[:, None])"),
    ("adam-epsilon", "def make_model", "def make_optimizer(model):\n    return keras.optimizers.Adam(1e-3, epsilon=1e-7)\n\n\ndef make_model"),
]  # fmt: skip


def run(capsys, *args) -> tuple[int, str, str]:
    code = main(["parity", *map(str, args)])
    out = capsys.readouterr()
    return code, out.out, out.err


def named(text: str) -> list[str]:
    return re.findall(r"\[([a-z-]+)\]", text)


def broken(tmp_path: Path, port: Path, old: str, new: str) -> Path:
    """The port with one mistake."""
    text = port.read_text()
    assert old in text
    script = tmp_path / "mine.py"
    script.write_text(text.replace(old, new))
    return script


@pytest.mark.parametrize("side", ["keras", "torch", TORCH, KERAS, f"{KERAS}:make_model"])
def test_equal_to_tensorflow_js(side, capsys, tmp_path):
    code, out, err = run(capsys, VECTORS, side, "--json", tmp_path / "result.json")
    result = json.loads((tmp_path / "result.json").read_text())
    assert code == 0 and "equal: the largest" in out, out + err
    assert result["equal"] and not result["likely"]
    gradients = [row for row in result["variables"] if row["what"] == "gradient"]
    modes = {row["mode"] for row in gradients}
    assert modes == ({"training"} if side == TORCH else {"training", "inference"})
    assert len(gradients) == 14 * len(modes)
    assert max(row["relative"] for row in gradients) < 5e-5
    assert len([row for row in result["variables"] if row["what"] == "moving"]) == 4
    if side in ("keras", "torch", TORCH):
        assert result["adam"]["equal"] and result["adam"]["largest"] < 1e-5


@pytest.mark.parametrize("framework", ["keras", "torch"])
def test_three_adam_steps_end_to_end(framework):
    """Own gradients, own Adam, moving statistics and all: the weights after each step are TensorFlow.js's."""
    case = vectors.read(VECTORS)
    side = sides.side(case, framework, None, True)
    fed = []
    for i, step in enumerate(case.adam):
        outcome = side.outcome(TRAINING)
        fed.append(outcome.gradients)
        moving = outcome.moving
        fresh = sides.side(case, framework, None, True)
        after = fresh.optimize(None, fed)[i]
        weights = {key: moving[key] if key[1] in MOVING else after[key] for key in after}
        side.write(weights)
        off = max(np.abs(weights[key] - step.weights[key]).max() for key in step.weights)
        assert off < 1e-5, (i, off)
    assert i == 2


@pytest.mark.parametrize(("slug", "old", "new"), TORCH_MISTAKES, ids=lambda v: v[:20])
def test_mistakes_in_torch(slug, old, new, tmp_path, capsys):
    code, out, err = run(capsys, VECTORS, broken(tmp_path, TORCH, old, new))
    assert code == 1, out + err
    assert named(out) == [slug], out


@pytest.mark.parametrize(("slug", "old", "new"), KERAS_MISTAKES, ids=lambda v: v[:20])
def test_mistakes_in_keras(slug, old, new, tmp_path, capsys):
    code, out, err = run(capsys, VECTORS, broken(tmp_path, KERAS, old, new))
    assert code == 1, out + err
    assert named(out) == [slug], out


@pytest.mark.parametrize("mistake", [*IN_GRADIENTS[:27], *IN_MOVING[:1], IN_MOVING[-1]], ids=lambda m: m.slug)
def test_both_frameworks_make_the_same_mistake(mistake):
    """Where only Keras is installed, the mistakes are tried there."""
    case, setup = vectors.read(VECTORS), mistake.apply(Setup())
    mine, other = (side(case, setup).outcome(TRAINING) for side in (TorchSide, KerasSide))
    rows = comparing.differences(TRAINING, mine, other, case.online.weights, 2e-4)
    assert len(rows) == 19
    assert all(row.equal for row in rows), [row for row in rows if not row.equal]
    right = case.reference[TRAINING]
    assert not all(
        r.equal for r in comparing.differences(TRAINING, right, mine, case.online.weights, 5e-5)
    ) or setup == Setup(epsilon=1e-3)


def test_two_mistakes_at_once(tmp_path, capsys):
    text = (
        TORCH.read_text()
        .replace("= 1e-3, 0.01, 0.25", "= 1e-5, 0.1, 0.25")
        .replace("x.permute(0, 2, 3, 1).", "x.")
    )
    (tmp_path / "mine.py").write_text(text)
    code, out, _ = run(capsys, VECTORS, tmp_path / "mine.py")
    assert code == 1
    assert named(out) == ["batch-norm-epsilon", "flatten-order", "batch-norm-momentum"], out


def test_a_difference_that_nobody_knows_is_not_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(comparing, "SECONDS", 2.0)
    script = broken(tmp_path, TORCH, "((goal - q) ** 2).mean()", "((goal - q).abs() ** 1.7).mean()")
    code, out, _ = run(capsys, VECTORS, script)
    assert code == 1
    assert "no known mistake explains this" in out
    assert named(out) == []


def test_a_model_against_a_script_without_vectors(tmp_path, capsys):
    assert run(capsys, VECTORS / "online", TORCH)[0] == 0
    script = broken(tmp_path, TORCH, "x.permute(0, 2, 3, 1).flatten(1)", "x.flatten(1)")
    code, out, _ = run(capsys, VECTORS / "online", script)
    assert code == 1
    assert named(out) == ["flatten-order"], out


def test_keras_against_torch(tmp_path, capsys):
    plain = tmp_path / "plain.py"
    plain.write_text(TORCH.read_text().split("def load_weights")[0])
    code, out, err = run(capsys, f"{KERAS}:make_model", plain)
    assert code == 0, out + err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: (d / "vectors.json").write_text("{}"), "neither inferenceMode nor trainingMode"),
        (lambda d: (d / "vectors.json").write_text("[1"), "cannot be read"),
        (lambda d: (d / "batch.json").write_text('{"states": 3}'), "cannot be read"),
    ],
)
def test_broken_vectors(change, sentence, tmp_path, capsys):
    shutil.copytree(VECTORS, tmp_path / "v")
    change(tmp_path / "v")
    code, out, err = run(capsys, tmp_path / "v", "torch")
    assert code == 2 and not out
    assert err.startswith("whygrad: ") and err.count("\n") == 1 and sentence in err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import torch\n", "has no function make_model()"),
        ("def make_model():\n    return 3\n", "not a Keras model or a torch module"),
        ("def make_model():\n    return 1 / 0\n", "your code raised ZeroDivisionError at mine.py:2"),
        ("import torch\ndef make_model():\n    return torch.nn.Linear(3, 3)\n", "your network has 1 layers with weights"),
        ("from torch import nn\ndef make_model():\n    return nn.Sequential(nn.Conv2d(2, 4, 3))\nraise OSError('disk')\n", "your code raised OSError at mine.py:4: disk"),
    ],
)  # fmt: skip
def test_scripts_that_cannot_be_compared(text, sentence, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(text)
    code, out, err = run(capsys, VECTORS, tmp_path / "mine.py")
    assert code == 2 and not out
    assert err.count("\n") == 1 and sentence in err, err


def test_wrong_use(capsys, tmp_path):
    assert "put the vectors first" in run(capsys, TORCH, VECTORS)[2]
    assert "there is no" in run(capsys, tmp_path / "nowhere", "torch")[2]
    assert "is neither keras, torch" in run(capsys, VECTORS, "jax")[2]
