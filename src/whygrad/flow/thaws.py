"""Lines that were to switch gradients on again, and switch nothing."""

from __future__ import annotations

import ast

from whygrad.flow.source import tree
from whygrad.model.source import remembered


@remembered(256)
def vain_thaws(file: str) -> tuple[tuple[str, int], ...]:
    """``net.encoder.requires_grad = True``: names that are given that attribute, with their lines.

    A loop variable is left out: it may be a parameter, of which this is the right way to ask.
    """
    module = tree(file)
    if module is None:
        return ()
    loops = {
        n.id
        for f in ast.walk(module)
        if isinstance(f, ast.For)
        for n in ast.walk(f.target)
        if isinstance(n, ast.Name)
    }
    found = []
    for node in ast.walk(module):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        for target in node.targets if node.value.value is True else ():
            if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
                owner = target.value
                name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
                if name and name not in loops:
                    found.append((name, node.lineno))
    return tuple(found)
