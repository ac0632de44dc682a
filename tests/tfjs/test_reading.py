"""Reading model.json: bit by bit what TensorFlow.js reads, and nothing that is not as it should be."""

from __future__ import annotations

import json
import os
import random
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from whygrad.cli.main import main
from whygrad.zoo.tfjs import reading
from whygrad.zoo.tfjs.network import ModelError

SMALL = Path(__file__).parents[1] / "data" / "small"
EXPECTED = json.loads((SMALL / "variants" / "expected.json").read_text())["variants"]


@pytest.mark.parametrize("variant", EXPECTED)
def test_weights_are_bitwise_those_of_tensorflow_js(variant):
    model = reading.read(SMALL / "variants" / variant / "model.json")
    for key, name in model.manifest_names.items():
        wanted = EXPECTED[variant]["weights"][name]
        assert np.array_equal(
            model.weights[key], np.array(wanted["data"], np.float32).reshape(wanted["shape"])
        )
    assert len(model.weights) == len(EXPECTED[variant]["weights"]) == 18


@pytest.fixture
def folder(tmp_path) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(SMALL / "online", copy)
    (tmp_path / "evil.bin").write_bytes((copy / "weights.bin").read_bytes())
    return copy


def edit(folder: Path, change) -> None:
    """Change model.json, as python or as text."""
    raw = json.loads((folder / "model.json").read_text())
    result = change(raw)
    (folder / "model.json").write_text(result if isinstance(result, str) else json.dumps(raw))


def refused(folder: Path, capsys, path: Path | None = None) -> str:
    """The one sentence with which it is refused."""
    code = main(["convert", str(path or folder / "model.json"), "--to", "torch", str(folder / "out")])
    out, err = capsys.readouterr()
    assert code == 2 and out == "", (code, out)
    assert err.startswith("whygrad: ") and err.count("\n") == 1, err
    assert not (folder / "out").exists()
    return err


def first(raw):
    return raw["weightsManifest"][0]["weights"][0]


def layer(raw, i):
    return raw["modelTopology"]["config"]["layers"][i]


PATHS = ["../evil.bin", "/etc/passwd", "..\\evil.bin", "C:weights.bin", "C:\\weights.bin", "https://x.org/w.bin",
         "file:///etc/passwd", "weights.bin\0", "", ".", "..", "a/../weights.bin", "./weights.bin", "weights.bin/",
         "nowhere.bin", 3, None, ["weights.bin"], "a" * 5000, "~/weights.bin", "\u202eweights.bin"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS, ids=lambda p: repr(p)[:20])
def test_paths_stay_in_the_folder(path, folder, capsys):
    edit(folder, lambda raw: raw["weightsManifest"][0].update(paths=[path]))
    refused(folder, capsys)


def test_symlinks_do_not_lead_out(folder, capsys):
    (folder / "weights.bin").unlink()
    (folder / "weights.bin").symlink_to(folder.parent / "evil.bin")
    assert "leads out of its folder" in refused(folder, capsys)


def test_symlinked_folders_do_not_lead_out(folder, capsys):
    (folder / "sub").symlink_to(folder.parent)
    edit(folder, lambda raw: raw["weightsManifest"][0].update(paths=["sub/evil.bin"]))
    assert "leads out of its folder" in refused(folder, capsys)


def test_a_symlinked_model_json_does_not_lead_out(folder, tmp_path, capsys):
    other = tmp_path / "other"
    other.mkdir()
    (other / "model.json").symlink_to(folder / "model.json")
    assert "leads out" in refused(folder, capsys, other / "model.json")


def test_a_symlink_inside_the_folder_is_fine(folder):
    (folder / "weights.bin").rename(folder / "real.bin")
    (folder / "weights.bin").symlink_to("real.bin")
    assert len(reading.read(folder).weights) == 18


def test_a_symlinked_folder_is_fine(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert len(reading.read(tmp_path / "link" / "model.json").weights) == 18


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_only_plain_files_are_read(make, folder, capsys):
    (folder / "weights.bin").unlink()
    make(folder / "weights.bin")
    assert "is not a regular file" in refused(folder, capsys)


CHANGES = {
    "short": (lambda raw: first(raw).update(shape=[3, 3, 2, 5]), "bytes, and the weights need"),
    "long": (lambda raw: raw["weightsManifest"][0]["weights"].pop(), "bytes, and the weights need"),
    "negative": (lambda raw: first(raw).update(shape=[-3, -3, 2, 4]), "not a list of whole numbers"),
    "fraction": (lambda raw: first(raw).update(shape=[3.5, 3, 2, 4]), "not a list of whole numbers"),
    "true": (lambda raw: first(raw).update(shape=[True, 3, 2, 12]), "not a list of whole numbers"),
    "no shape": (lambda raw: first(raw).update(shape=None), "not a list of whole numbers"),
    "huge": (lambda raw: first(raw).update(shape=[10**9, 10**9]), "more than 4 GiB"),
    "huge with zero": (lambda raw: first(raw).update(shape=[10**18, 0]), "the weights need"),
    "many axes": (lambda raw: first(raw).update(shape=[1] * 100), "not a list of whole numbers"),
    "dtype": (lambda raw: first(raw).update(dtype="float64"), "has the type 'float64'"),
    "bare float16": (lambda raw: first(raw).update(dtype="float16"), "has the type 'float16'"),
    "string": (lambda raw: first(raw).update(dtype="string"), "has the type 'string'"),
    "int32": (lambda raw: first(raw).update(dtype="int32"), "is of type int32, not float32"),
    "quantization": (lambda raw: first(raw).update(quantization={"dtype": "uint4"}), "quantised as 'uint4'"),
    "no scale": (lambda raw: first(raw).update(quantization={"dtype": "uint8", "min": 0}), "without a finite scale"),
    "nan scale": (lambda raw: first(raw).update(quantization={"dtype": "uint8", "min": 0, "scale": float("nan")}), "without a finite scale"),
    "infinite min": (lambda raw: first(raw).update(quantization={"dtype": "uint8", "min": float("inf"), "scale": 1}), "without a finite scale"),
    "enormous scale": (lambda raw: first(raw).update(quantization={"dtype": "uint8", "min": 0, "scale": 10**400}), "without a finite scale"),
    "enormous slope": (lambda raw: layer(raw, 1).update(class_name="ELU", config={"name": "x", "alpha": 10**400}), "alpha must be a number"),
    "float16 of int32": (lambda raw: first(raw).update(dtype="int32", quantization={"dtype": "float16"}), "its type is int32"),
    "twice": (lambda raw: first(raw).update(name="conv2d_Conv2D1/bias"), "two weights called 'conv2d_Conv2D1/bias'"),
    "missing": (lambda raw: first(raw).update(name="other/kernel"), "'conv2d_Conv2D1/kernel' is missing"),
    "extra": (lambda raw: raw["weightsManifest"][0]["weights"].append({"name": "x/y", "shape": [0], "dtype": "float32"}), "'x/y' belongs to no layer"),
    "no name": (lambda raw: first(raw).update(name=""), "without a name"),
    "shape": (lambda raw: first(raw).update(shape=[3, 3, 4, 2]), "has the shape [3, 3, 4, 2], not [3, 3, 2, 4]"),
    "units": (lambda raw: layer(raw, 0)["config"].update(filters=10**12), "filters must be a whole number"),
    "wide": (lambda raw: layer(raw, 0)["config"].update(filters=2**31 - 1), "has the shape"),
    "graph model": (lambda raw: raw.update(format="graph-model"), "'graph-model'"),
    "no format": (lambda raw: raw.update(format=None), "has the format 'None'"),
    "no manifest": (lambda raw: raw.pop("weightsManifest"), "needs modelTopology and weightsManifest"),
    "no topology": (lambda raw: raw.pop("modelTopology"), "needs modelTopology and weightsManifest"),
    "class": (lambda raw: layer(raw, 1).update(class_name="Lambda"), "is a 'Lambda', which is not supported"),
    "activation": (lambda raw: layer(raw, 0)["config"].update(activation="evil"), "activation must be one of"),
    "channels first": (lambda raw: layer(raw, 0)["config"].update(data_format="channels_first"), "must be 'channels_last'"),
    "causal": (lambda raw: layer(raw, 0)["config"].update(padding="causal"), "must be 'valid' or 'same'"),
    "unknown option": (lambda raw: layer(raw, 0)["config"].update(surprise=7), "an option that is not known here: 'surprise'"),
    "too large a window": (lambda raw: layer(raw, 0)["config"].update(kernel_size=[99, 99]), "does not fit"),
    "no input shape": (lambda raw: layer(raw, 0)["config"].pop("batch_input_shape"), "does not say the shape of its input"),
    "empty": (lambda raw: raw["modelTopology"]["config"].update(layers=[]), "the model has no layers"),
    "two names": (lambda raw: layer(raw, 2)["config"].update(name="conv2d_Conv2D1"), "two layers are called"),
    "not an object": (lambda raw: "[]", "is not a JSON object"),
    "not JSON": (lambda raw: "{", "is not JSON"),
    "deep": (lambda raw: "[" * 200_000, "is not JSON"),
    "not text": (lambda raw: "\ud800".encode("utf-8", "surrogatepass").decode("latin1"), "is not JSON"),
    "empty file": (lambda raw: "", "is not JSON"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_as_it_should_be_is_refused(change, folder, capsys):
    how, sentence = CHANGES[change]
    edit(folder, how)
    tracemalloc.start()
    said = refused(folder, capsys)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sentence in said
    assert peak < 50e6


def test_a_large_model_json_is_not_read(folder, capsys):
    with (folder / "model.json").open("r+b") as file:
        file.truncate(65 * 2**20)
    assert "more than the" in refused(folder, capsys)


def test_large_weights_are_not_read(folder, capsys):
    edit(folder, lambda raw: first(raw).update(shape=[2**20, 2**11]))
    with (folder / "weights.bin").open("r+b") as file:
        file.truncate(2**33)
    assert "GiB" in refused(folder, capsys)


def test_a_short_file_and_trailing_bytes(folder, capsys):
    data = (folder / "weights.bin").read_bytes()
    for wrong in (data[:-1], data + b"\0"):
        (folder / "weights.bin").write_bytes(wrong)
        assert "bytes, and the weights need 7068" in refused(folder, capsys)


def test_weights_that_are_not_finite(folder, capsys):
    data = bytearray((folder / "weights.bin").read_bytes())
    data[:4] = np.float32(np.nan).tobytes()
    (folder / "weights.bin").write_bytes(data)
    assert "not finite" in refused(folder, capsys)
    assert np.isnan(reading.read(folder, keep_non_finite=True).weights["conv2d_Conv2D1", "kernel"]).any()


def test_names_cannot_smuggle_code_into_the_torch_file(folder, tmp_path):
    from whygrad.zoo.tfjs import torch_models

    bad = "x = 1; __import__('os').mkdir('hacked')  # \"\"\""

    def change(raw):
        text = json.dumps(raw).replace("conv2d_Conv2D1", json.dumps(bad)[1:-1])
        raw["modelTopology"]["config"]["name"] = bad
        return text

    edit(folder, change)
    torch_models.build(reading.read(folder))
    assert not Path("hacked").exists()


def damaged(text: str, dice: random.Random) -> str:
    """A model.json with one or two values exchanged."""
    raw = json.loads(text)
    values = [
        None,
        -1,
        0,
        1,
        3.5,
        "",
        "x",
        [],
        {},
        [1],
        True,
        2**70,
        "linear",
        [[["a", 0, 0]]],
        {"class_name": "Dense"},
    ]
    for _ in range(dice.randint(1, 2)):
        node = raw
        while isinstance(node, dict | list) and node:
            key = dice.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if not isinstance(node[key], dict | list) or not node[key] or dice.random() < 0.15:
                node[key] = json.loads(json.dumps(dice.choice(values)))
                break
            node = node[key]
    return json.dumps(raw)


@pytest.mark.parametrize("graph", [False, True])
def test_anything_else_is_refused_in_a_sentence_too(graph, folder):
    """Thousands of random changes: a ModelError or a model, and never another exception."""
    if graph:
        from tests.tfjs import zoo

        from whygrad.zoo.tfjs import keras_models, writing

        writing.write(keras_models.from_keras(zoo.build(zoo.branches)), folder)
    text = (folder / "model.json").read_text()
    dice, refusals = random.Random(1), 0
    for _ in range(1500):
        (folder / "model.json").write_text(damaged(text, dice))
        try:
            reading.read(folder)
        except ModelError as error:
            refusals += 1
            assert "\n" not in str(error) and len(str(error)) < 600
    assert refusals > 500
