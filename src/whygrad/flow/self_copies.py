"""Syncs that copy a network onto itself: ``target.set_weights(target.get_weights())``."""

from __future__ import annotations

import ast

from whygrad.flow.source import tree
from whygrad.model.source import remembered

_PUT = frozenset(("set_weights", "load_state_dict"))
_TAKE = frozenset(("get_weights", "state_dict"))
_LISTS = frozenset(("variables", "trainable_variables", "weights", "trainable_weights", "parameters"))


@remembered(64)
def onto_itself(file: str) -> int | None:
    """The first line of a file that does so."""
    module = tree(file)
    calls = [n for n in ast.walk(module) if isinstance(n, ast.Call)] if module is not None else []
    return min((call.lineno for call in calls if _put_back(call) or _zipped(call)), default=None)


def _put_back(call: ast.Call) -> bool:
    """``x.set_weights(x.get_weights())``."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in _PUT and call.args):
        return False
    taken = call.args[0].func if isinstance(call.args[0], ast.Call) else None
    whole = isinstance(taken, ast.Attribute) and taken.attr in _TAKE
    return whole and isinstance(taken, ast.Attribute) and ast.dump(taken.value) == ast.dump(call.func.value)


def _zipped(call: ast.Call) -> bool:
    """``zip(x.variables, x.variables)``."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "zip" and len(call.args) == 2):
        return False
    one, two = (a.func if isinstance(a, ast.Call) else a for a in call.args)
    return isinstance(one, ast.Attribute) and one.attr in _LISTS and ast.dump(one) == ast.dump(two)
