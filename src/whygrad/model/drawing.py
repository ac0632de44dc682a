"""The flow picture: which layers feed which losses, and where the way back is cut."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.model.finding import Step
from whygrad.model.site import Site


@dataclass(frozen=True, slots=True)
class Weight:
    """A parameter of a layer; ``gradient`` is its largest element in the last recorded update."""

    name: str
    shape: tuple[int, ...] = ()
    gradient: float | None = None  # none: there was no gradient
    optimizers: tuple[str, ...] = ()
    trainable: bool = True
    seen: bool = True  # an update was recorded in which it could have had a gradient


@dataclass(frozen=True, slots=True)
class Layer:
    """Parameters that belong together, and the network (or part of one) that they are drawn in."""

    name: str
    network: str
    weights: tuple[Weight, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawnLoss:
    """Something that was differentiated: its terms by name, and the optimizers that step on it."""

    name: str
    site: Site | None = None
    terms: tuple[str, ...] = ()
    term_sites: tuple[Site | None, ...] = ()
    optimizers: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Wire:
    """A way from a layer to the next layer, or to a term of a loss.

    ``target`` is the name of a layer, or empty; then ``loss`` and ``term`` say where it ends. Gradient comes
    back on it if it ``carries``. If it does not, there is a ``cut``, or nothing before it asks for gradients.
    """

    source: str
    target: str = ""
    loss: int = -1
    term: int = -1
    carries: bool = True
    cut: Step | None = None
    block: str = ""  # the kind of block that made the cut: no_grad, inference_mode, ...
    via: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """Layers, losses, and the wires between them."""

    layers: tuple[Layer, ...] = ()
    losses: tuple[DrawnLoss, ...] = ()
    wires: tuple[Wire, ...] = ()
    more: int = 0  # losses that are not drawn because there are too many
