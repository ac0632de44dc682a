"""What a backend is to the rest of whygrad."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from whygrad.model import Observation
from whygrad.summaries.stream import Tensors
from whygrad.summaries.watching import Watching


@dataclass(frozen=True, slots=True)
class Setup:
    """What the runner tells a backend when it attaches.

    ``namespace`` gives the script's global names when asked; ``on_step`` is called after every optimizer
    step, in the thread that made it, and may raise to end the script.
    """

    namespace: Callable[[], Mapping[str, Any]] = dict
    on_step: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """What a program wants to have summarized now: variables, their gradients, and what it calls them."""

    key: tuple[int, ...]
    name: str
    names: list[str]
    gradients: Tensors
    variables: Tensors
    rate: float
    unknown: bool = False  # nobody knows the gradients


class Backend(Protocol):
    """Watches one framework. Never raises into the user's program, but for ``Setup.on_step``."""

    framework: str

    def attach(self, setup: Setup) -> None:
        """Start to watch; the framework has just been imported."""

    def detach(self) -> None:
        """Restore exactly what ``attach`` found. Safe to call twice."""

    def summarize(self, watching: Watching | None) -> None:
        """Summarize updates from now on, as ``watching`` wants it; or no longer."""

    def failed(self, error: BaseException) -> None:
        """The script is about to end with this exception."""

    def judged(self, updates: int) -> bool:
        """Has every optimizer that is in use been recorded for ``updates`` updates?"""

    def observe(self) -> Observation:
        """What was seen so far, without a single tensor in it."""

    def peek(self) -> Observation:
        """The same while the script trains: it changes nothing of what will be seen at the end.

        To be called right after a step, in the thread that made it. The history of summaries is not in it.
        """

    def after_next_step(self, call: Callable[[], None]) -> None:
        """Call this after the next optimizer step, in the thread that makes it."""
