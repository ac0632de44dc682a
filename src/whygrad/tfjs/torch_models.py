"""Torch modules from ours: the very file that a user gets, executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from whygrad.tfjs import torch_source
from whygrad.tfjs.network import Model


def build(model: Model) -> Any:
    """The module with its weights, in inference mode."""
    scope: dict[str, Any] = {"__name__": "whygrad_converted", "__file__": "model.py"}
    exec(compile(torch_source.source(model), "model.py", "exec"), scope)
    module = scope["Model"]()
    module.load_state_dict(_tensors(model))
    return module.eval()


def write(model: Model, folder: Path) -> None:
    """model.py and weights.pt."""
    text = torch_source.source(model)
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(_tensors(model), folder / "weights.pt")
    (folder / "model.py").write_text(text, encoding="utf-8")


def _tensors(model: Model) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in torch_source.state(model).items()}
