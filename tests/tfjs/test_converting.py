"""Models of every layer, from Keras to TensorFlow.js and back, to torch, and in the real TensorFlow.js."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import torch
from tests.tfjs import node, zoo

from whygrad.cli.main import main
from whygrad.zoo.tfjs import keras_models, kinds, reading, torch_models, writing
from whygrad.zoo.tfjs.network import ModelError

SMALL = Path(__file__).parents[1] / "data" / "small"


def outputs(model: keras.Model, inputs: list[np.ndarray]) -> list[np.ndarray]:
    result = model(inputs if len(inputs) > 1 else inputs[0], training=False)
    return [np.asarray(y) for y in (result if isinstance(result, list | tuple) else [result])]


def same(a: list[np.ndarray], b: list[np.ndarray], tolerance: float = 2e-6) -> None:
    assert [x.shape for x in a] == [y.shape for y in b]
    assert max(np.abs(x - y).max() for x, y in zip(a, b, strict=True)) < tolerance


@pytest.mark.parametrize("make", zoo.ALL, ids=lambda make: make.__name__)
def test_from_keras_to_tensorflow_js_to_torch_and_back(make, tmp_path):
    model = zoo.build(make)
    inputs = zoo.inputs_for(model)
    writing.write(keras_models.from_keras(model), tmp_path, shard_bytes=100)
    read = reading.read(tmp_path)
    same(outputs(model, inputs), outputs(keras_models.build(read), inputs))
    result = torch_models.build(read)(*map(torch.from_numpy, inputs))
    same(
        outputs(model, inputs),
        [y.detach().numpy() for y in (result if isinstance(result, tuple) else (result,))],
    )


def test_the_real_tensorflow_js_gives_the_same(tmp_path):
    """Keras to TensorFlow.js to node: every layer, plain and quantised."""
    node.installed()
    folders, inputs, wanted = [], [], []
    for make in zoo.ALL:
        model = zoo.build(make)
        folders.append(tmp_path / make.__name__)
        inputs.append(zoo.inputs_for(model))
        wanted.append(outputs(model, inputs[-1]))
        writing.write(keras_models.from_keras(model), folders[-1], shard_bytes=1000)
    for how in writing.QUANTIZATIONS:
        model = keras_models.from_keras(zoo.build(zoo.snake))
        folders.append(tmp_path / how)
        writing.write(model, folders[-1], how)
        inputs.append(inputs[0])
        wanted.append(outputs(keras_models.build(reading.read(folders[-1])), inputs[0]))
    for got, right in zip(node.predict(folders, inputs), wanted, strict=True):
        same(got, right)


def test_the_zoo_has_every_layer_that_can_be_written():
    used = {type(layer).__name__ for make in zoo.ALL for layer in zoo.build(make)._flatten_layers()}
    assert kinds.KINDS.keys() - used == {"Subtract"}  # TensorFlow.js has none


@pytest.mark.parametrize(("how", "error"), [("uint8", 4e-3), ("uint16", 2e-5), ("float16", 1e-3)])
def test_quantised_weights_come_back_nearly_the_same(how, error, tmp_path):
    model = reading.read(SMALL / "online")
    writing.write(model, tmp_path, how)
    back = reading.read(tmp_path)
    for key, array in model.weights.items():
        assert np.abs(back.weights[key] - array).max() <= error * np.abs(array).max() * 2
    files = sum(file.stat().st_size for file in tmp_path.glob("*.bin"))
    assert files == 7068 // (4 if how == "uint8" else 2)


def test_zeros_survive_quantisation(tmp_path):
    model = reading.read(SMALL / "online")
    key = ("dense_Dense1", "kernel")
    model.weights[key][::2] = 0  # type: ignore[index]
    writing.write(model, tmp_path, "uint8")
    assert (reading.read(tmp_path).weights[key][::2] == 0).all()


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        ([keras.layers.GRU(2)], "reset_after=True, which TensorFlow.js has not"),
        ([keras.layers.Lambda(lambda x: x)], "is a 'Lambda', which is not supported"),
        ([keras.layers.Dense(2, activation="log_softmax")], "activation must be one of"),
        ([keras.layers.ELU(alpha=0.5)], "alpha that is not 1"),
        ([keras.layers.ReLU(negative_slope=0.5)], "use LeakyReLU"),
        ([keras.layers.UpSampling1D()], "is a 'UpSampling1D', which is not supported"),
        ([keras.layers.Masking()], "is a 'Masking', which is not supported"),
        ([keras.layers.LSTM(2, go_backwards=True)], "an option that is not known here: 'go_backwards'"),
    ],
)
def test_what_cannot_be_written_is_refused_in_a_sentence(layers, sentence, tmp_path):
    model = keras.Sequential([keras.Input((4, 3)), *layers])
    with pytest.raises(ModelError, match=sentence):
        writing.write(keras_models.from_keras(model), tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_command_to_torch_gives_a_file_that_stands_alone(tmp_path, capsys):
    assert (
        main(["convert", str(SMALL / "online" / "model.json"), "--to", "torch", str(tmp_path / "net.py")])
        == 0
    )
    assert "net.py and " in capsys.readouterr().out
    code = (
        "import sys, torch; sys.modules['whygrad'] = None; from net import load; m = load(); "
        "assert not m.training; print(m(torch.ones(2, 9, 9, 2)).shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "torch.Size([2, 3])\n"


def test_the_command_to_keras_and_back(tmp_path, capsys):
    file, back = tmp_path / "m.keras", tmp_path / "back"
    assert main(["convert", str(SMALL / "online"), "--to", "keras", str(file)]) == 0
    assert main(["convert", str(file), "--to", "tfjs", str(back)]) == 0
    first, second = reading.read(SMALL / "online"), reading.read(back)
    for one, two in zip(first.network.weight_shapes(), second.network.weight_shapes(), strict=True):
        assert np.array_equal(first.weights[one], second.weights[two])
    assert "9 layers, 1,767 weights" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nowhere.json", "--to", "keras", "x"], "there is no nowhere.json"),
        ([__file__, "--to", "keras", "x"], "is not JSON"),
        (["broken.keras", "--to", "tfjs", "x"], "is not a Keras model that can be loaded"),
    ],
)
def test_wrong_use(args, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.keras").write_bytes(b"PK\x03\x04 nothing")
    assert main(["convert", *args]) == 2
    err = capsys.readouterr().err
    assert sentence in err and err.count("\n") == 1, err
