"""What collaborators of the torch backend may ask of each other where they would else need each other."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any, Protocol

from whygrad.frameworks.shared.copies import Copies
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.nodes import Node, Param


class Resting(Protocol):
    """Somebody who takes the interceptor out while torch does arithmetic of its own."""

    def rest(self) -> bool:
        """True if there was something to put to rest."""

    def resume(self) -> None:
        """It is over."""


class Gradients(Protocol):
    """Somebody who knows which gradients are there."""

    def unused_gradients(self, keys: Iterable[int]) -> frozenset[int]:
        """Of these parameters, those with a gradient that no step has used and nobody has cleared."""

    def forget(self, keys: Iterable[int]) -> None:
        """The gradients of these parameters are gone."""

    def taken_by_hand(self, values: Iterable[Node]) -> object:
        """These values were put into weights."""

    def handed_over(self, target: Param, values: Iterable[Node], where: Where | None) -> None:
        """These values were put into the gradient of ``target``."""


class Written(Protocol):
    """Somebody who knows updates that no optimizer makes."""

    def written(self, owner: Param, sources: Iterable[Node], where: Where | None) -> None:
        """A parameter was overwritten, with these values."""


class Writes(Protocol):
    """Somebody who is told what is written into gradients and weights."""

    copies: Copies

    def clipped_copy(self, name: str, source: Node, made: Node, where: Where | None) -> None:
        """``p.grad.clamp(-1, 1)``."""

    def gradient_written(self, name: str, owner: Param, sources: Iterable[Node], where: Where | None) -> None:
        """An in-place operation on ``p.grad``."""

    def written(
        self,
        name: str,
        owner: Param,
        sources: tuple[Node, ...],
        numbers: tuple[float, ...],
        where: Where | None,
    ) -> None:
        """A parameter was overwritten in place."""


class Summarizer(Protocol):
    """Somebody who summarizes updates."""

    near: bool  # may the next step be summarized?

    def before_clip(self, tensors: Iterable[Any]) -> None:
        """Somebody is about to clip these."""

    def before(self, optimizer: Any, frame: FrameType) -> None:
        """A step begins."""

    def after(self, optimizer: Any, closure: bool) -> None:
        """It is over, and counted."""
