"""What the user may name: vectors, a model, a script, or just a framework."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from whygrad.zoo.parity import theirs, vectors
from whygrad.zoo.parity.case import Batch, Case, Outcome
from whygrad.zoo.parity.theirs import Script
from whygrad.zoo.tfjs import converting
from whygrad.zoo.tfjs.network import Model, ModelError

BATCH = 8


class Side(Protocol):
    """An implementation at work."""

    framework: str
    modes: tuple[str, ...]

    def outcome(self, mode: str) -> Outcome:
        """What comes out of one update."""
        ...


def script_of(text: str) -> Script | None:
    """``script.py`` or ``script.py:make_model``; or a Keras file, which is loaded."""
    path, _, maker = text.partition(".py:")
    if maker:
        return theirs.load(Path(path + ".py"), maker)
    if text.endswith(".py"):
        return theirs.load(Path(text))
    if Path(text).suffix in converting.KERAS_FILES:
        from whygrad.zoo.tfjs import keras_models

        file = Path(text)
        if not file.exists():
            raise ModelError(f"there is no {file}")
        return Script(file, lambda: keras_models.load(file), keras_models.load(file))
    return None


def model_of(text: str, script: Script | None) -> Model | None:
    """The model with its graph, if it can be known: not of a torch module."""
    if script is None:
        return converting.read(Path(text))
    if script.framework == "keras":
        from whygrad.zoo.tfjs import keras_models

        try:
            return keras_models.from_keras(script.model)
        except ModelError:
            return None
    return None


def side(case: Case, text: str, script: Script | None, fill: bool) -> Side:
    """The implementation that ``text`` names."""
    framework = script.framework if script else text if text in ("keras", "torch") else _installed()
    if framework == "torch":
        with converting.needs("torch"):
            from whygrad.zoo.parity.torch_side import TheirTorch, TorchSide

            return TheirTorch(case, script, fill) if script else TorchSide(case)
    with converting.needs("tensorflow"):
        from whygrad.zoo.parity.keras_side import KerasSide, TheirKeras

        return TheirKeras(case, script, fill) if script else KerasSide(case)


def trial(case: Case, setup: Any) -> Side:
    """The reference with mistakes, in whichever framework is there; torch is quicker."""
    if _installed() == "torch":
        from whygrad.zoo.parity.torch_side import TorchSide

        return TorchSide(case, setup)
    from whygrad.zoo.parity.keras_side import KerasSide

    return KerasSide(case, setup)


def _installed() -> str:
    return "torch" if find_spec("torch") else "keras"


def case_of(text: str) -> Case | None:
    """The case of a folder of vectors."""
    return vectors.read(Path(text)) if vectors.is_vectors(Path(text)) else None


def made_case(model: Model, name: str, transitions: bool) -> Case:
    """A case for a model that brings no batch: random numbers, the same each time."""
    network, rng = model.network, np.random.default_rng(0)
    if len(network.inputs) != 1 or len(network.outputs) != 1:
        raise ModelError("parity needs a network with one input and one output")
    first, last = network.calls[network.inputs[0]], network.calls[network.outputs[0]]
    shape, out = ([n or 8 for n in call.shape] for call in (first, last))
    reads = [network.layers[c.layer] for c in network.calls if network.inputs[0] in c.inputs]
    words = [layer.options["input_dim"] for layer in reads if layer.kind == "Embedding"]

    def images() -> np.ndarray:
        if words:
            return rng.integers(0, min(words), (BATCH, *shape)).astype(np.int32)
        return rng.normal(0, 1, (BATCH, *shape)).astype(np.float32)

    batch = Batch(images(), goals=rng.normal(0, 1, (BATCH, *out)).astype(np.float32))
    if not transitions:
        return Case(model, None, batch, name=name)
    other = {
        key: array
        if key[1] == "moving_variance"
        else (array + rng.normal(0, 0.05, array.shape)).astype(np.float32)
        for key, array in model.weights.items()
    }
    batch = replace(
        batch,
        next_states=images(),
        actions=rng.integers(0, out[-1], BATCH).astype(np.int32),
        rewards=rng.normal(0, 2, BATCH).astype(np.float32),
        dones=(np.arange(BATCH) % 4 == 3).astype(np.float32),
    )
    return Case(model, replace(model, weights=other), batch, name=name)
