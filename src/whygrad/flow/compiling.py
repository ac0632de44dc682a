"""``model.compile(loss=...)``: the line that says which loss ``fit`` computes."""

from __future__ import annotations

import ast

from whygrad.flow.source import scope_of, statement_at, tree
from whygrad.model import Site

_TRAINS = frozenset(("fit", "train_on_batch"))


def loss_line(site: Site | None) -> Site | None:
    """Where the loss was chosen that is computed on this line, if it trains by ``fit`` and only one was."""
    module = tree(site.file) if site is not None else None
    statement = statement_at(site.file, site.line) if site is not None else None
    if site is None or module is None or statement is None or not _calls(statement, _TRAINS):
        return None
    chosen = {k.value.lineno for c in _calls(module, {"compile"}) for k in c.keywords if k.arg == "loss"}
    if len(chosen) != 1:
        return None
    line = chosen.pop()
    return Site.read(site.file, line, getattr(scope_of(module, line), "name", site.function))


def _calls(node: ast.AST, names: frozenset[str] | set[str]) -> list[ast.Call]:
    found = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return [c for c in found if isinstance(c.func, ast.Attribute) and c.func.attr in names]
