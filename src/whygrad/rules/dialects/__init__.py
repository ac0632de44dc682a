"""How people speak of each framework. A framework more is a file more here, and no sentence."""

from __future__ import annotations

from whygrad.rules.dialects.dialect import Dialect
from whygrad.rules.dialects.jax import JAX
from whygrad.rules.dialects.tensorflow import TENSORFLOW
from whygrad.rules.dialects.torch import TORCH

DIALECTS: dict[str, Dialect] = {dialect.framework: dialect for dialect in (TORCH, TENSORFLOW, JAX)}


def dialect_of(framework: str) -> Dialect:
    """The words for this framework; PyTorch's for one that we have none for."""
    return DIALECTS.get(framework, TORCH)


__all__ = ["DIALECTS", "JAX", "TENSORFLOW", "TORCH", "Dialect", "dialect_of"]
