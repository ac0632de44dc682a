"""Who trains whom: the terms of each loss against the networks that they reach."""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.model.site import Site


@dataclass(frozen=True, slots=True)
class Reached:
    """What one term of a loss does to one network.

    ``share`` is the term's part of the network's gradient, by norm; ``None`` where it was not measured.
    ``applied`` names the optimizers whose steps use it.
    """

    network: str
    reached: bool
    share: float | None = None
    applied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LossTerm:
    """One addend of a loss, under the user's name for it."""

    name: str
    site: Site | None
    networks: tuple[Reached, ...] = ()


@dataclass(frozen=True, slots=True)
class GradientMap:
    """One loss that an optimizer steps on."""

    optimizer: str
    loss: Site | None
    terms: tuple[LossTerm, ...] = ()
    unmeasured: str = ""  # why there are no shares, if there are none


@dataclass(frozen=True, slots=True)
class Role:
    """What a network is, and how one can tell."""

    network: str
    role: str  # online | target | actor | critic | trunk | temperature
    why: str
    site: Site | None = None
