"""Torch modules from ours: the very file that a user gets, executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

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
    torch.save(_tensors(model), files[1])
    files[0].write_text(text, encoding="utf-8")
    return files


def _tensors(model: Model) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in torch_source.state(model).items()}
