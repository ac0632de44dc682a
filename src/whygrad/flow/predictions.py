"""``model.predict`` and ``model.fit`` in the source text: are both given the same states?"""

from __future__ import annotations

import ast

from whygrad.flow.source import statement_at
from whygrad.model import Site

_PREDICTS = frozenset(("predict", "predict_on_batch"))
_TRAINS = frozenset(("fit", "train_on_batch"))


def same_states(predicted: Site | None, fitted: Site | None) -> bool:
    """Does one function ask a model for these states and train it on the very same?"""
    if predicted is None or fitted is None:
        return False
    if (predicted.file, predicted.function) != (fitted.file, fitted.function):
        return False
    one, two = _given(predicted, _PREDICTS), _given(fitted, _TRAINS)
    return one is not None and two is not None and ast.dump(one) == ast.dump(two)


def _given(site: Site, names: frozenset[str]) -> ast.expr | None:
    """The first argument of the only such call on a line."""
    statement = statement_at(site.file, site.line)
    found = [n for n in ast.walk(statement) if isinstance(n, ast.Call)] if statement is not None else []
    calls = [c for c in found if isinstance(c.func, ast.Attribute) and c.func.attr in names]
    if len(calls) != 1:
        return None
    named = [k.value for k in calls[0].keywords if k.arg == "x"]
    given = named or calls[0].args[:1]
    return given[0] if given else None
