"""How a target network follows: the copy the right way round, and called at all."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source

_COPIES = ("load_state_dict", "set_weights", "copy_", "assign", "lerp_")
_TAU = "0.005"  # what most published agents blend in after each update


@cures("target-reversed")
def the_other_way(case: Case) -> Iterator[Candidate]:
    """The two networks, the two arguments or the two factors swapped; brackets around ``1 - tau``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    yield from _brackets(case, source, stmt)
    for near in (stmt, *scopes.function_lines(source, stmt)):
        yield from _factors(case, source, near)
    known = [scopes.spoken(source, stmt, n) for n in (*case.networks, *case.other_networks)]
    here = {edits.name_of(n) for n in source.own(stmt)}
    said = [n for n in dict.fromkeys(known) if n and n in here]
    for k, one in enumerate(said):
        for two in said[k + 1 :]:
            swapped = edits.merged(
                edits.renamed(source, source.own(stmt), one, two),
                edits.renamed(source, source.own(stmt), two, one),
            )
            yield from case.change(f"swap `{one}` and `{two}`", source, swapped)


def _factors(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """``tau`` where ``1 - tau`` stands, and the other way round."""
    rests = [n for n in source.own(stmt) if isinstance(n, cst.BinaryOperation) and _one_minus(n)]
    for name in {source.code(_inner(rest)) for rest in rests}:
        changes: edits.Changes = {}
        for rest in rests:
            if source.code(_inner(rest)) == name:
                bare = _inner(rest)
                changes[rest] = bare.with_changes(lpar=[], rpar=[])
        inside = {n for rest in rests for n in source.within(rest)}
        for node in source.own(stmt):
            if node in inside or not isinstance(node, cst.Name | cst.Attribute | cst.Float):
                continue
            if source.code(node) == name and not edits.part_of_name(source, node):
                changes.update(edits.written(source, node, f"1 - {name}"))
        if len(changes) > len(rests):
            yield from case.change(f"swap `{name}` and `1 - {name}`", source, changes)


def _one_minus(node: Node) -> bool:
    one = isinstance(node.left, cst.Integer | cst.Float) and float(node.left.value) == 1.0
    return one and isinstance(node.operator, cst.Subtract)


def _inner(rest: Node) -> Node:
    return rest.right


def _brackets(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """``a + 1 - tau * b`` as ``a + (1 - tau) * b``."""
    for node in source.own(stmt):
        match node:
            case cst.BinaryOperation(
                operator=cst.Subtract(),
                left=cst.BinaryOperation(
                    operator=cst.Add(), left=first, right=cst.Integer() | cst.Float() as one
                ),
                right=cst.BinaryOperation(operator=cst.Multiply(), left=tau, right=rest),
            ):
                text = f"{source.code(first)} + ({one.value} - {source.code(tau)}) * {source.code(rest)}"
                yield from case.change("brackets around `1 - tau`", source, edits.written(source, node, text))


@cures("target-never-synced")
def call_the_sync(case: Case) -> Iterator[Candidate]:
    """A function that copies the weights and that nobody calls: after each update."""
    source = case.source
    if source is None:
        return
    for function in scopes.uncalled(source, lambda f: _copies(source, f)):
        name = function.name.value
        method = isinstance(source.parent(source.parent(function)), cst.ClassDef)
        for step in _updates(source, function, method):
            for given in _arguments(case, source, step, len(function.params.params) - method):
                call = edits.statement(f"{'self.' if method else ''}{name}({', '.join(given)})")
                yield from case.change(f"call `{name}` after the update", source, edits.after(step, call))


def _copies(source: Source, function: Node) -> bool:
    return any(edits.called(n) in _COPIES for n in source.within(function))


@cures("target-never-synced")
def the_right_one_of_two(case: Case) -> Iterator[Candidate]:
    """``sync(q2, q2)``: a network that is copied onto itself, and the target that was meant."""
    source = case.source
    for stmt in source.statements if source is not None else ():
        if source is None or not isinstance(stmt, cst.SimpleStatementLine):
            continue
        for online in case.other_networks:
            said = scopes.spoken(source, stmt, online)
            twice = [n for n in source.own(stmt) if said and edits.name_of(n) == said]
            twice = [n for n in twice if not edits.part_of_name(source, n)]
            if len(twice) != 2 or not any(isinstance(n, cst.Call) for n in source.own(stmt)):
                continue
            for target in (scopes.spoken(source, stmt, name) for name in case.networks):
                for node in twice if target else ():
                    made = edits.renamed(source, [node], said, target)
                    yield from case.change(f"`{target}` for one `{said}`", source, made)


@cures("target-never-synced")
def a_sync(case: Case) -> Iterator[Candidate]:
    """Where nobody wrote one: a little of the online network after each update."""
    sites = [*case.makers(), case.site]
    for source in dict.fromkeys(filter(None, (case.read(site.file) for site in sites))):
        for step in _steps_of(source):
            for target in case.networks:
                for online in _likely(case, target):
                    mine, theirs = scopes.spoken(source, step, target), scopes.spoken(source, step, online)
                    if mine and theirs:
                        loop = edits.lines(_blend(case, mine, theirs))
                        told = f"blend `{theirs}` into `{mine}` after the update"
                        yield from case.change(told, source, edits.after(step, *loop))


def _likely(case: Case, target: str) -> list[str]:
    """The online networks, the one with the most of the target's name first."""
    online = [name for name in case.other_networks if name not in case.role("target")]
    return sorted(online, key=lambda name: (name not in target, name not in case.role("critic")))


def _blend(case: Case, target: str, online: str) -> str:
    if case.in_torch:
        loop = f"for p_target, p in zip({target}.parameters(), {online}.parameters()):"
        return f"with torch.no_grad():\n    {loop}\n        p_target.lerp_(p, {_TAU})\n"
    loop = f"for v_target, v in zip({target}.variables, {online}.variables):"
    return f"{loop}\n    v_target.assign_add({_TAU} * (v - v_target))\n"


def _steps_of(source: Source) -> list[Node]:
    simple = [s for s in source.statements if isinstance(s, cst.SimpleStatementLine)]
    return [s for s in simple if any(_steps(source, n) for n in source.own(s))]


def _arguments(case: Case, source: Source, step: Node, many: int) -> Iterator[tuple[str, ...]]:
    """Nothing, or the two networks, in both orders: the wrong one is another finding."""
    if not many:
        yield ()
    if many == 1:
        yield (_TAU,)
    targets = [scopes.spoken(source, step, name) for name in case.networks]
    onlines = [scopes.spoken(source, step, name) for name in case.other_networks]
    for target in targets if many == 2 else ():
        for online in onlines:
            if target and online:
                yield from ((target, online), (online, target))


def _updates(source: Source, function: Node, method: bool) -> list[Node]:
    """The lines that step an optimizer; of the same class, if it is a method."""
    home = source.parent(function)
    return [s for s in _steps_of(source) if not method or home in list(source.around(s))]


def _steps(source: Source, node: Node) -> bool:
    if edits.called(node) == "step" and not node.args:
        return True
    return edits.called(node) in ("apply_gradients", "fit", "train_on_batch", "minimize")
