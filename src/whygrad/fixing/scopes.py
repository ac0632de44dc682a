"""Names as the user says them: what a network is called at a line, which values nobody reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from whygrad.fixing.edits import name_of, part_of_name, targets_of, value_of
from whygrad.fixing.source import Node, Source


def spoken(source: Source, near: Node, network: str) -> str:
    """The network (``agent.critic``) as it is called near this line (``self.critic``); or nothing."""
    parts = network.split(".")
    if not all(part.isidentifier() or "[" in part for part in parts):
        parts = [p for p in parts if p.isidentifier()]
    tails = [".".join(parts[k:]) for k in range(len(parts))]
    for scope in scopes(source, near):
        known = names_in(source, scope)
        for tail in tails:
            # what is left of ``agent.q`` is an attribute: a plain ``q`` there is a value of that name
            for name in (tail, f"self.{tail}") if tail == tails[0] else (f"self.{tail}", tail):
                if name in known:
                    return name
    return ""


def scopes(source: Source, near: Node) -> Iterator[Node]:
    """The function around it, the class, the module: from the inside outward."""
    for node in source.around(near):
        if isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Module):
            yield node


def names_in(source: Source, scope: Node) -> set[str]:
    """All names and attributes that are written there; in a module, those of its functions are not."""
    nodes = source.within(scope)
    if isinstance(scope, cst.Module):
        nodes = (n for n in nodes if source.function(n) is None)
    return {name for node in nodes if (name := name_of(node)) and not part_of_name(source, node)}


def function_lines(source: Source, near: Node) -> list[Node]:
    """The simple statements of the function around it, or of the module outside of functions."""
    home = source.function(near)
    simple = [s for s in source.statements if isinstance(s, cst.SimpleStatementLine)]
    return [s for s in simple if source.function(s) is home]


def assigned(source: Source, near: Node, name: str) -> Node | None:
    """The last statement above, in the same function or else in the file, that assigns the name."""
    line = source.line(near)
    local = [s for s in function_lines(source, near) if name in targets_of(s)]
    above = [s for s in local if source.line(s) < line]
    if above or local:
        return (above or local)[-1]
    simple = [s for s in source.statements if isinstance(s, cst.SimpleStatementLine)]
    return next((s for s in reversed(simple) if name in targets_of(s)), None)


def given_above(source: Source, near: Node) -> list[str]:
    """The names that the function has been given above a line, the nearest first."""
    line, function = source.line(near), source.function(near)
    above = [s for s in function_lines(source, near) if source.line(s) < line]
    taken = [p.name.value for p in function.params.params] if function is not None else []
    made = [name for s in above for name in targets_of(s) if "." not in name]
    return list(dict.fromkeys([*reversed(made), *taken]))


def unread(source: Source, near: Node) -> list[str]:
    """Names that this function computes and that nobody reads: a value that was forgotten."""
    here = function_lines(source, near)
    made = [(name, s) for s in here for name in targets_of(s) if value_of(s) is not None]
    names = (n for n in source.within(source.module) if isinstance(n, cst.Name))
    reads = [name_of(n) for n in names if not part_of_name(source, n)]
    found: dict[str, None] = {}
    for name, stmt in made:
        if "." in name or name == "_" or isinstance(value_of(stmt), cst.SimpleString | cst.Integer):
            continue
        if reads.count(name) == sum(name in targets_of(s) for s in _simple(source)):
            found[name] = None
    return list(found)


def uncalled(source: Source, wanted: Callable[[Node], bool]) -> list[Node]:
    """The functions of this kind that are called nowhere, but perhaps once at the beginning."""
    functions = [s for s in source.statements if isinstance(s, cst.FunctionDef) and wanted(s)]
    words = [n for n in source.within(source.module) if isinstance(n, cst.Name) and not _begins(source, n)]
    return [f for f in functions if [n.value for n in words].count(f.name.value) == 1]


def _begins(source: Source, node: Node) -> bool:
    function = source.function(node)
    return function is not None and function.name.value == "__init__"


def forgotten(source: Source, stmt: Node, network: str) -> list[str]:
    """Names that this function makes with the network's help above a statement that does without them."""
    above = [s for s in function_lines(source, stmt) if source.line(s) < source.line(stmt)]
    made, known = [], {network}
    for other in above:
        if known & _reads(source, other):
            new = [name for name in targets_of(other) if "." not in name and name not in known]
            made += new
            known.update(new)
    used, more = _reads(source, stmt), True
    while more:
        feeding = [s for s in above if used & {*targets_of(s)}]
        grown = used.union(*(_reads(source, s) for s in feeding))
        used, more = grown, grown != used
    return [name for name in made if name not in used]


def _reads(source: Source, stmt: Node) -> set[str]:
    """The names in what a statement computes."""
    value = value_of(stmt)
    return {name_of(n) for n in source.within(value)} - {""} if value is not None else set()


def _simple(source: Source) -> list[Node]:
    return [s for s in source.statements if isinstance(s, cst.SimpleStatementLine)]
