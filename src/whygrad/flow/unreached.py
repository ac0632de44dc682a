"""What a script that was cut short had still to do: calls in its source that have never run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeAlias

from whygrad.flow.source import tree
from whygrad.model import Site

_OPTIMIZERS = frozenset(
    ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "LBFGS", "Nadam")
)
Wanted: TypeAlias = Callable[[tuple[str, ...]], bool]
_DIFFERENTIATES = frozenset(("backward", "grad", "gradient", "minimize", "fit", "train_on_batch"))


def optimizer_to_come(made: Iterable[Site | None], files: Iterable[str]) -> bool:
    """Is there a line that makes an optimizer, or gives it more to hold, and that has not run?"""
    return _waits(made, files, _makes_optimizer)


def loss_to_come(run: Iterable[Site | None], files: Iterable[str]) -> bool:
    """Is there a line that differentiates and that has not run?"""
    return _waits(run, files, _differentiates)


def _waits(run: Iterable[Site | None], files: Iterable[str], wanted: Wanted) -> bool:
    done = {(site.file, site.line) for site in run if site is not None}
    return any(
        not any((file, line) in done for line in lines)
        for file in set(files)
        for lines in _calls(file, wanted)
    )


@lru_cache(maxsize=256)
def _calls(file: str, wanted: Wanted) -> tuple[range, ...]:
    """The lines of all such calls."""
    module = tree(file)
    calls = [n for n in ast.walk(module) if isinstance(n, ast.Call)] if module is not None else []
    return tuple(range(c.lineno, (c.end_lineno or c.lineno) + 1) for c in calls if wanted(_dotted(c.func)))


def _dotted(node: ast.expr) -> tuple[str, ...]:
    """``torch.optim.Adam`` as its parts."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(node.id)
    return tuple(reversed(names))


def _makes_optimizer(names: tuple[str, ...]) -> bool:
    inside = any(name in ("optim", "optimizers") for name in names[:-1])
    return bool(names) and (inside or names[-1] in _OPTIMIZERS or names[-1] == "add_param_group")


def _differentiates(names: tuple[str, ...]) -> bool:
    return bool(names) and names[-1] in _DIFFERENTIATES
