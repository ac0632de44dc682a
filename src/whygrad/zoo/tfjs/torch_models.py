"""Torch modules from ours: the very file that a user gets, executed."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import torch

from whygrad import strangers
from whygrad.zoo.tfjs import torch_source
from whygrad.zoo.tfjs.network import Model


def build(model: Model) -> Any:
    """The module with its weights, in inference mode."""
    scope: dict[str, Any] = {"__name__": "whygrad_converted", "__file__": "model.py"}
    exec(compile(torch_source.source(model), "model.py", "exec"), scope)
    module = scope["Model"]()
    module.load_state_dict(_tensors(model))
    return module.eval()


def write(model: Model, path: Path) -> list[Path]:
    """``path`` with the suffixes .py and .pt."""
    text = torch_source.source(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    files = [path.with_suffix(".py"), path.with_suffix(".pt")]
    weights = BytesIO()
    torch.save(_tensors(model), weights)
    strangers.write(files[1], weights.getvalue())
    strangers.write(files[0], text)
    return files


def _tensors(model: Model) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in torch_source.state(model).items()}
