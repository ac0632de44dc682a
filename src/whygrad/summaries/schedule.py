"""When an update is summarized: ``True``, every how many, or what a function says."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Rule = Callable[[int, str], bool]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Whether an update is due. ``foreseeable`` if that can be known before the update begins."""

    every: int = 0
    rule: Rule | None = None

    @property
    def foreseeable(self) -> bool:
        """A function is asked when the update is there, exactly once: it may look at anything."""
        return self.rule is None

    def due(self, number: int, optimizer: str) -> bool:
        """Is update ``number`` (from 1 on) of this optimizer to be summarized?"""
        if self.rule is not None:
            return bool(self.rule(number, optimizer))
        return self.every > 0 and number % self.every == 0

    def near(self, number: int, many: int) -> bool:
        """May one of the ``many`` updates after ``number`` be due?"""
        return self.rule is not None or (self.every > 0 and number % self.every + many >= self.every)

    def __str__(self) -> str:
        if self.rule is not None:
            return "when your function says so"
        return "every update" if self.every == 1 else f"every {self.every} updates"


def schedule(given: Any) -> Schedule | None:
    """What a user may write for ``summarize_grads_and_vars``; nothing for ``False`` and ``None``."""
    if given is None or given is False:
        return None
    if given is True:
        return Schedule(every=1)
    if isinstance(given, int):
        if given < 1:
            raise ValueError(
                f"summarize_grads_and_vars={given}: give True, a number from 1 on, or a function"
            )
        return Schedule(every=given)
    if callable(given):
        return Schedule(rule=_two_arguments(given))
    kind = type(given).__name__
    raise TypeError(f"summarize_grads_and_vars is True, a number or a function of the update, not a {kind}")


def _two_arguments(function: Callable[..., Any]) -> Rule:
    """A function may want the update's number only, or the optimizer's name, too."""
    try:
        inspect.signature(function).bind(1, "optimizer")
    except TypeError:
        return lambda number, optimizer: function(number)
    except ValueError:  # written in C: nobody knows
        return lambda number, optimizer: function(number)
    return function
