"""The frameworks that we know: the one table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework, and who of us knows what about it. Modules are imported when they are needed."""

    name: str  # as it is imported
    title: str = ""  # as people call it
    backend: str = ""  # "module:class" of who watches it; empty: nobody yet
    summarizing: str = ""  # the module that takes gradients and variables out of its models
    asking: str = ""  # the module that answers questions about one of its losses
    packages: tuple[str, ...] = ()  # its own code: no line in there is the user's
    names_layers: bool = False  # layers that the user has given no name have one: ``dense_1``
    in_part: str = ""  # why no run of it is called healthy yet: what is not judged
    slowdown: float = 0.0  # of a recorded update, from benchmarks/overhead.py; 0: not measured


FRAMEWORKS: dict[str, Framework] = {
    framework.name: framework
    for framework in (
        Framework(
            "torch",
            "PyTorch",
            backend="whygrad.frameworks.torch.backend:TorchBackend",
            summarizing="whygrad.frameworks.torch.summarizing",
            asking="whygrad.frameworks.torch.asking",
            packages=("torch", "functorch"),
            slowdown=3,
        ),
        Framework(
            "tensorflow",
            "TensorFlow",
            backend="whygrad.frameworks.tensorflow.backend:TensorFlowBackend",
            summarizing="whygrad.frameworks.tensorflow.summarizing",
            packages=("tensorflow", "keras", "tf_keras", "tensorflow_probability"),
            names_layers=True,
        ),
        Framework(
            "jax",
            "JAX",
            backend="whygrad.frameworks.jax.backend:JaxBackend",
            packages=(
                *("jax", "jaxlib", "flax", "optax", "equinox", "haiku", "distrax", "rlax", "chex"),
                "jaxtyping",
            ),
            in_part="on JAX training is judged in part only: nobody looks at the values of gradients (zeros, "
            "NaN, too small, too large), at clipping, nor at who has learnt",
        ),
    )
}

#: The code of all frameworks that are watched.
PACKAGES = frozenset(package for framework in FRAMEWORKS.values() for package in framework.packages)


def title(name: str) -> str:
    """What people call it; empty for what is no framework."""
    return FRAMEWORKS[name].title if name in FRAMEWORKS else ""


def watched(name: str) -> bool:
    """Is there anybody who watches it?"""
    return name in FRAMEWORKS and bool(FRAMEWORKS[name].backend)


def in_part(names: Iterable[str]) -> str:
    """What is not judged of one of these frameworks yet."""
    return next((FRAMEWORKS[n].in_part for n in names if n in FRAMEWORKS and FRAMEWORKS[n].in_part), "")
