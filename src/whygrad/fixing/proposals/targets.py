"""Target networks and bootstrap targets: stop them, copy them, sync them the right way round."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source
from whygrad.model import Mark


@cures("target-leak")
def stop_the_bootstrap(case: Case) -> Iterator[Candidate]:
    """The value of the next state without its history, and nothing else of the sum."""
    sites = [*case.steps(Mark.LEAK), case.site]
    for site in dict.fromkeys(sites):
        source = case.read(site.file)
        stmt = source.statement(site.line) if source else None
        if source is None or stmt is None:
            continue
        for node in _discounted(source, stmt):
            told = f"stop `{source.code(node)}`"
            yield from case.change(told, source, edits.stopped(source, node, case.in_torch))
        yield from _stop_where_used(case, source, stmt)
        for outer in source.around(stmt):
            if isinstance(outer, cst.With) and "enable_grad" in source.code(outer.items[0]):
                yield from case.change("take the block away", source, {outer: edits.unwrapped(outer)})


def _discounted(source: Source, stmt: Node) -> Iterator[Node]:
    """The factors of products that may be a network's value: names and calls, those in the middle first."""
    factors: list[Node] = []
    for node in source.own(stmt):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
            factors += [side for side in (node.left, node.right) if not _constant(side)]
    factors = [f for f in factors if not (isinstance(f, cst.BinaryOperation) and _product(f))]
    calls = [f for f in factors if isinstance(f, cst.Call | cst.Subscript | cst.Attribute | cst.IfExp)]
    names = [f for f in factors if isinstance(f, cst.Name)]
    sums = [f for f in factors if isinstance(f, cst.BinaryOperation) and _calls_or_names(source, f)]
    yield from (f for f in (*calls, *reversed(names), *sums) if not edits.name_of(f).startswith("self.gamma"))


def _product(node: Node) -> bool:
    return isinstance(node.operator, cst.Multiply)


def _constant(node: Node) -> bool:
    name = edits.name_of(node).rpartition(".")[2].lower()
    return isinstance(node, cst.Float | cst.Integer) or name in ("gamma", "discount", "lambda", "lam")


def _calls_or_names(source: Source, node: Node) -> bool:
    return not re.fullmatch(r"\(?1(\.0*)? - .*", source.code(node))


def _stop_where_used(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """The target as a constant in the statements below that use it."""
    made = edits.targets_of(stmt)
    uses = [s for s in scopes.function_lines(source, stmt) if source.line(s) > source.line(stmt)]
    for use in uses:
        for node in source.own(use):
            if edits.name_of(node) in made and not edits.part_of_name(source, node):
                told = f"stop `{source.code(node)}` here"
                if edits.value_of(use) is not None or isinstance(use, cst.SimpleStatementLine):
                    yield from case.change(told, source, edits.stopped(source, node, case.in_torch))


@cures("advantage-not-detached")
def stop_the_advantage(case: Case) -> Iterator[Candidate]:
    """The advantage as a constant in the policy loss alone."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    names = {*edits.targets_of(stmt)}
    lines = [
        source.statement(s.line) for s in case.steps() if s.file == source.file and s.line != case.site.line
    ]
    later = [s for s in scopes.function_lines(source, stmt) if source.line(s) > source.line(stmt)]
    copies = [s for s in later if edits.name_of(edits.value_of(s)) in names]
    for copy in copies:
        value = edits.value_of(copy)
        told = f"stop `{source.code(value)}` here"
        yield from case.change(told, source, edits.stopped(source, value, case.in_torch))
    for use in dict.fromkeys([*(s for s in lines if s is not None), *later]):
        for node in source.own(use):
            if edits.name_of(node) in names and not edits.part_of_name(source, node) and _read(source, node):
                told = f"stop `{source.code(node)}` here"
                yield from case.change(told, source, edits.stopped(source, node, case.in_torch))


def _read(source: Source, node: Node) -> bool:
    return not isinstance(source.parent(node), cst.AssignTarget | cst.AugAssign)


@cures("target-alias")
def a_copy(case: Case) -> Iterator[Candidate]:
    """A network of its own: ``copy.deepcopy``, or ``clone_model`` with the same weights."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    value = edits.value_of(stmt) if stmt is not None else None
    if source is None or stmt is None or value is None:
        return
    online, names = source.code(value), edits.imported(source)
    if case.in_torch:
        maker = "deepcopy" if "deepcopy" in names else "copy.deepcopy"
        changes = edits.written(source, value, f"{maker}({online})")
        if not {"copy", "deepcopy"} & names:
            changes = {**changes, **_import(source, "import copy")}
        yield from case.change("a copy of it", source, changes)
        return
    keras = "keras" if "keras" in names else "tf.keras"
    target = next(iter(edits.targets_of(stmt)), "")
    inner = stmt.body[0].with_changes(value=edits.expression(f"{keras}.models.clone_model({online})"))
    weights = edits.statement(f"{target}.set_weights({online}.get_weights())")
    made = cst.FlattenSentinel([stmt.with_changes(body=[inner]), weights])
    yield from case.change("a copy of it, with its weights", source, {stmt: made})
    if target:
        built = f"{keras}.models.model_from_json({online}.to_json())"
        inner = stmt.body[0].with_changes(value=edits.expression(built))
        made = cst.FlattenSentinel([stmt.with_changes(body=[inner]), weights])
        yield from case.change("a copy of it, with its weights", source, {stmt: made})


def _import(source: Source, text: str) -> edits.Changes:
    """An import more, above the first one."""
    first = next(s for s in source.statements if "import" in source.code(s).split("\n")[0])
    return edits.before(first, edits.statement(text))


@cures("target-in-optimizer", "polluted-gradient")
def left_out(case: Case) -> Iterator[Candidate]:
    """The list of parameters without those of the network."""
    for site in dict.fromkeys([case.site, *case.makers()]):
        source = case.read(site.file)
        stmt = source.statement(site.line) if source else None
        if source is None or stmt is None:
            continue
        names = {n.value for n in source.own(stmt) if isinstance(n, cst.Name)}
        makers = [scopes.assigned(source, stmt, name) for name in sorted(names)]
        for where in dict.fromkeys([stmt, *(m for m in makers if m is not None)]):
            for network in case.networks:
                said = scopes.spoken(source, where, network)
                yield from _shorter(case, source, where, said)


def _shorter(case: Case, source: Source, where: Node, said: str) -> Iterator[Candidate]:
    told = f"leave `{said}` out"
    for node in source.own(where) if said else ():
        match node:
            case cst.List(elements=elements) | cst.Tuple(elements=elements):
                rest = [e for e in elements if not _is_of(source, e.value, said)]
                if 0 < len(rest) < len(elements):
                    rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                    yield from case.change(told, source, {node: node.with_changes(elements=rest)})
            case cst.BinaryOperation(operator=cst.Add(), left=left, right=right):
                for gone, kept in ((left, right), (right, left)):
                    if _is_of(source, gone, said):
                        yield from case.change(told, source, edits.in_place_of(source, node, kept))
            case cst.Call() if edits.called(node) == "chain":
                rest = [a for a in node.args if not _is_of(source, a.value, said)]
                if 0 < len(rest) < len(node.args):
                    rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                    yield from case.change(told, source, {node: node.with_changes(args=rest)})


def _is_of(source: Source, node: Node, network: str) -> bool:
    """``net.parameters()``, ``list(net.parameters())``, ``{"params": net.parameters()}``."""
    return re.search(rf"(?<![\w.]){re.escape(network)}\.", source.code(node)) is not None


@cures("target-unused")
def ask_the_target(case: Case) -> Iterator[Candidate]:
    """The target network's name where the online one gives the value of the next state."""
    for site in dict.fromkeys([*case.steps(Mark.HERE), *case.steps(), case.site]):
        source = case.read(site.file)
        stmt = source.statement(site.line) if source else None
        if source is None or stmt is None:
            continue
        asked = re.search(r"and (\S+) (?:is never asked|only chooses)", case.finding.title)
        for online in case.networks:
            for target in dict.fromkeys([*([asked[1]] if asked else []), *case.other_networks]):
                old, new = scopes.spoken(source, stmt, online), scopes.spoken(source, stmt, target)
                if old and new:
                    changes = edits.renamed(source, source.own(stmt), old, new)
                    back = edits.renamed(source, source.own(stmt), new, old)
                    if changes and back:
                        told = f"swap `{old}` and `{new}`"
                        yield from case.change(told, source, {**changes, **back})
                    yield from case.change(f"ask `{new}`", source, changes)


@cures("terminal-mask", "unmasked-bootstrap")
def masked(case: Case) -> Iterator[Candidate]:
    """``~done`` as ``(1 - done)``; the bootstrap value times ``(1 - done)``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    for node in source.own(stmt):
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert | cst.Not):
            text = f"(1 - {source.code(node.expression)})"
            yield from case.change("`(1 - done)`", source, edits.written(source, node, text))
    carried = re.search(r"not masked by `([^`]+)`", case.finding.title)
    flag = None if carried else re.search(r"`([\w.]+)`", case.finding.title)
    for node in _outermost(source, stmt) if carried else ():
        text = f"{source.code(node)} * {carried[1]}" if carried else ""
        yield from case.change("carry it on with the same mask", source, edits.written(source, node, text))
    if case.finding.rule != "unmasked-bootstrap" or flag is None:
        return
    done = flag[1]
    outer = _outermost(source, stmt)
    for here in (*_indexed(source, stmt, done), done):
        masks = [
            f"(1 - {here})",
            f"(1 - {here}.float())" if case.in_torch else f"(1.0 - tf.cast({here}, tf.float32))",
        ]
        for node in outer:
            for mask in masks:
                text = f"{source.code(node)} * {mask}"
                yield from case.change(f"mask it with `{mask}`", source, edits.written(source, node, text))


def _outermost(source: Source, stmt: Node) -> list[cst.BinaryOperation]:
    """Products that are no factor of another one."""
    products = [n for n in source.own(stmt) if isinstance(n, cst.BinaryOperation) and _product(n)]
    return [n for n in products if not any(n is not m and n in source.within(m) for m in products)]


def _indexed(source: Source, stmt: Node, flag: str) -> list[str]:
    """``dones[t]``, where the line takes the rewards of one step."""
    found: dict[str, None] = {}
    for node in source.own(stmt):
        if isinstance(node, cst.Subscript) and len(node.slice) == 1:
            index = node.slice[0].slice
            if isinstance(index, cst.Index) and isinstance(index.value, cst.Name):
                found[f"{flag}[{index.value.value}]"] = None
    return list(found)


@cures("self-target")
def not_overwritten(case: Case) -> Iterator[Candidate]:
    """A target that is given another value before anybody has read it: the first one."""
    for site in case.steps():
        source = case.read(site.file)
        stmt = source.statement(site.line) if source else None
        if source is None or stmt is None:
            continue
        for name in edits.targets_of(stmt):
            same = [s for s in scopes.function_lines(source, stmt) if name in edits.targets_of(s)]
            if any(source.line(s) < source.line(stmt) for s in same):
                told = f"leave out the second `{name}`"
                yield from case.change(told, source, edits.without(source, stmt))


@cures("self-target")
def no_copy(case: Case) -> Iterator[Candidate]:
    """``row = q[i].copy()``: what is written into the copy never reaches the target."""
    source = case.source
    for stmt in source.statements if source is not None else ():
        value = edits.value_of(stmt)
        if (
            source is not None
            and edits.called(value) == "copy"
            and isinstance(edits.owner(value), cst.Subscript)
        ):
            told = f"`{source.code(edits.owner(value))}` itself, not a copy"
            yield from case.change(told, source, edits.in_place_of(source, value, edits.owner(value)))
