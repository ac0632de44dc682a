"""From one format to another: what is read, what is written, and what the user should know."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from whygrad.zoo.tfjs.network import Model, ModelError

KERAS_FILES = (".keras", ".h5", ".hdf5")
TORCH_FILES = (".py", ".pt", ".pth")


@contextmanager
def needs(framework: str) -> Iterator[None]:
    """Say how to get a framework that is not there."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "tensorflow", "keras", "numpy"):
            raise
        raise ModelError(f"this needs {error.name}: pip install 'whygrad[{framework}]'") from None


def read(path: Path, keep_non_finite: bool = False) -> Model:
    """A model.json, its folder, or a Keras file."""
    if not path.exists():
        raise ModelError(f"there is no {path}")
    if path.suffix in KERAS_FILES:
        with needs("tensorflow"):
            from whygrad.zoo.tfjs import keras_models

            return keras_models.from_keras(keras_models.load(path))
    with needs("tensorflow"):
        from whygrad.zoo.tfjs import reading

        return reading.read(path, keep_non_finite)


def to_keras(model: Model, out: Path, quantize: str | None = None) -> list[Path]:
    """A .keras file, in a folder if no file is named."""
    with needs("tensorflow"):
        from whygrad.zoo.tfjs import keras_models

        built = keras_models.build(model)
    file = out if out.suffix in KERAS_FILES else out / "model.keras"
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink():
        file.unlink()  # what it leads to is not what was asked for
    built.save(file)
    return [file]


def to_torch(model: Model, out: Path, quantize: str | None = None) -> list[Path]:
    """A python file and the weights beside it."""
    with needs("torch"):
        from whygrad.zoo.tfjs import torch_models

        return torch_models.write(model, out if out.suffix in TORCH_FILES else out / "model.py")


def to_tfjs(model: Model, out: Path, quantize: str | None = None) -> list[Path]:
    """A folder with model.json and the weights."""
    if out.suffix == ".json" and out.name != "model.json":
        raise ModelError(
            f"a TensorFlow.js model is a folder with a model.json; {out.name} names another file"
        )
    from whygrad.zoo.tfjs import writing

    folder = out.parent if out.name == "model.json" else out
    return writing.write(model, folder, quantize)


TARGETS: dict[str, Callable[[Model, Path, str | None], list[Path]]] = {
    "keras": to_keras,
    "torch": to_torch,
    "tfjs": to_tfjs,
}


def notes(model: Model, target: str) -> Iterator[str]:
    """What is not quite the same afterwards."""
    for layer in model.network.layers.values():
        if layer.left_out:
            yield f"{layer.name}: {', '.join(layer.left_out)} only matters while training, and was left out"
        gates = [layer.options.get(key) for key in ("activation", "recurrent_activation")]
        if target == "keras" and "hard_sigmoid" in gates:
            yield (
                f"{layer.name}: hard_sigmoid is 0.2x + 0.5 in TensorFlow.js and x/6 + 0.5 in Keras 3; "
                "the weights before it were multiplied by 1.2, so the outputs are equal"
            )
