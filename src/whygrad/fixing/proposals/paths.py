"""Cuts on the way from a parameter to the loss: take the cut away, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source
from whygrad.model import Mark

_STOPS = ("stop_gradient",)


@cures("detached", "fake-root")
def without_the_cut(case: Case) -> Iterator[Candidate]:
    """``x.detach()``, ``x.data`` and ``tf.stop_gradient(x)`` as ``x``."""
    for site in dict.fromkeys([*case.steps(Mark.CUT), case.site]):
        source = case.read(site.file)
        if source is None:
            continue
        for node in source.at(site.line, cst.Call, cst.Attribute):
            inner, what = _under_stop(node)
            if inner is not None:
                changes = edits.in_place_of(source, _with_switch(source, node), inner)
                yield from case.change(f"leave out {what}", source, edits.tidied(source, changes))
                yield from _stop_one_factor(case, source, node, inner)


def _under_stop(node: Node) -> tuple[Node | None, str]:
    """What a call keeps the history from, and the call's name."""
    match node:
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="detach" | "detach_" as name))):
            return value, f"`.{name}()`"
        case cst.Attribute(value=value, attr=cst.Name(value="data")) if edits.name_of(value) != "self":
            return value, "`.data`"
        case cst.Call(args=[cst.Arg(value=value, keyword=None)]) if edits.called(node) in _STOPS:
            return value, f"`{edits.called(node)}`"
    return None, ""


def _with_switch(source: Source, node: Node) -> Node:
    """With the ``.requires_grad_(True)`` that stands behind it: that is part of the same cut."""
    outer = source.parent(source.parent(node)) if source.parent(node) is not None else None
    return outer if edits.called(outer) == "requires_grad_" and edits.owner(outer) is node else node


def _stop_one_factor(case: Case, source: Source, node: Node, inner: Node) -> Iterator[Candidate]:
    """``stop(log_prob * advantage)``: one of the two is the constant."""
    match inner:
        case cst.BinaryOperation(operator=cst.Multiply(), left=left, right=right):
            for kept, constant in ((left, right), (right, left)):
                stop = (
                    f"{edits.atom(source, constant)}.detach()"
                    if case.in_torch
                    else f"{edits.stopper(source)}({source.code(constant)})"
                )
                first, second = (stop, source.code(kept)) if constant is left else (source.code(kept), stop)
                text = f"{first} * {second}"
                yield from case.change(
                    f"stop `{source.code(constant)}` only", source, edits.written(source, node, text)
                )


@cures("fake-root")
def without_the_switch(case: Case) -> Iterator[Candidate]:
    """``loss.requires_grad_(True)`` taken away."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source and stmt is not None:
        yield from case.change("leave out this line", source, edits.without(source, stmt))


@cures("no-grad-block")
def out_of_the_block(case: Case) -> Iterator[Candidate]:
    """The statement out of the ``with``, or the ``with`` away, or its decorator."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    if isinstance(stmt, cst.FunctionDef):
        yield from _undecorated(case, source, stmt)
    elif isinstance(stmt, cst.With):
        yield from _less_covered(case, source, stmt)
    else:
        yield from _switched_on(case, source, stmt)


def _undecorated(case: Case, source: Source, function: Node) -> Iterator[Candidate]:
    line = case.site.line
    for decorator in function.decorators:
        if source.line(decorator) <= line <= source.last_line(decorator):
            said = source.code(decorator)
            kept = decorator.with_changes(leading_lines=())
            rest = [d for d in function.decorators if d is not decorator]
            leading = {} if rest else {"leading_lines": [*function.leading_lines, *kept.leading_lines]}
            changed = function.with_changes(decorators=rest, **leading)
            yield from case.change(f"take `{said}` off", source, {function: changed})


def _less_covered(case: Case, source: Source, block: Node) -> Iterator[Candidate]:
    if any(edits.called(item.item) == "inference_mode" for item in block.items):
        item = block.items[0]
        plain = item.with_changes(item=edits.expression("torch.no_grad()"))
        yield from case.change("`torch.no_grad()` for the rollout", source, {item: plain})
    body = list(block.body.body)
    cut = [source.statement(site.line) for site in case.steps(Mark.CUT)]
    first = next((s for s in cut if s in body), None)
    if first is not None and len(body) > 1:
        what = f"move `{source.code(first)}` out of the block"
        place = body.index(first)
        if place == 0:
            moved = edits.before(block, first.with_changes(leading_lines=[]))
            inner = block.with_changes(body=block.body.with_changes(body=body[1:]), leading_lines=[])
            yield from case.change(what, source, {block: _last_replaced(moved[block], inner)})
        rest = block.with_changes(body=block.body.with_changes(body=body[:place]))
        if place:
            tail = [s.with_changes(leading_lines=[]) for s in body[place:]]
            yield from case.change(what, source, {block: cst.FlattenSentinel([rest, *tail])})
    yield from case.change("take the block away", source, {block: edits.unwrapped(block)})


def _last_replaced(several: Node, last: Node) -> Node:
    return cst.FlattenSentinel([*list(several.nodes)[:-1], last])


def _switched_on(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """``set_grad_enabled(False)`` that nothing undoes; ``checkpoint(use_reentrant=True)``."""
    for call in source.at(case.site.line, cst.Call):
        reentrant = edits.keyword(call, "use_reentrant")
        if reentrant is not None:
            off = {reentrant.value: cst.Name("False")}
            yield from case.change("`use_reentrant=False`", source, off)
        if edits.called(call) == "checkpoint" and reentrant is None:
            args = [*call.args, cst.Arg(cst.Name("False"), keyword=cst.Name("use_reentrant"), equal=_tight())]
            yield from case.change("`use_reentrant=False`", source, {call: call.with_changes(args=args)})
        if edits.called(call) == "set_grad_enabled":
            on = edits.statement(f"{source.code(call.func)}(True)")
            last = source.block(stmt)[-1]
            returns = isinstance(edits.value_of(last), cst.CSTNode) and not edits.targets_of(last)
            where = edits.before(last, on) if returns else edits.after(last, on)
            yield from case.change("switch gradients on again", source, where)


def _tight() -> Node:
    blank = cst.SimpleWhitespace("")
    return cst.AssignEqual(whitespace_before=blank, whitespace_after=blank)


@cures("outside-tape")
def into_the_tape(case: Case) -> Iterator[Candidate]:
    """A tape that can be asked twice, a statement moved into the block, a value that is watched."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    blocks = [s for s in source.statements if isinstance(s, cst.With) and _tape_in(source, s)]
    home = source.function(stmt)
    near = [b for b in blocks if source.function(b) is home or stmt is b]
    for block in sorted(near or blocks, key=lambda b: abs(source.line(b) - case.site.line)):
        yield from _moved_into(case, source, stmt, block)
        yield from _persistent(case, source, block)
        yield from _watched(case, source, stmt, block)
        yield from _watched_as_asked(case, source, block)


def _tape_in(source: Source, block: Node) -> bool:
    return any(edits.called(item.item) == "GradientTape" for item in block.items)


def _moved_into(case: Case, source: Source, stmt: Node, block: Node) -> Iterator[Candidate]:
    around = list(source.around(stmt))
    if block in around:
        inner = next((b for b in around if isinstance(b, cst.With) and b is not block), None)
        if inner is not None:
            yield from case.change("out of the paused part", source, {inner: edits.unwrapped(inner)})
        return
    if source.parent(block) is not source.parent(stmt) or not isinstance(stmt, cst.SimpleStatementLine):
        return
    body, bare = list(block.body.body), stmt.with_changes(leading_lines=[])
    told = f"move `{source.code(stmt)}` into the tape's block"
    first = source.line(stmt) < source.line(block)
    inner = block.body.with_changes(body=[bare, *body] if first else [*body, bare])
    new = block.with_changes(body=inner)
    if first and stmt.leading_lines:
        new = new.with_changes(leading_lines=[*stmt.leading_lines, *block.leading_lines])
    yield from case.change(told, source, {stmt: cst.RemoveFromParent(), block: new})


def _persistent(case: Case, source: Source, block: Node) -> Iterator[Candidate]:
    for item in block.items:
        if edits.called(item.item) == "GradientTape" and edits.keyword(item.item, "persistent") is None:
            args = [*item.item.args]
            args.append(cst.Arg(cst.Name("True"), keyword=cst.Name("persistent"), equal=_tight()))
            told = "a tape that can be asked twice"
            yield from case.change(told, source, {item.item: item.item.with_changes(args=args)})


def _watched_as_asked(case: Case, source: Source, block: Node) -> Iterator[Candidate]:
    """``tape.watch(...)`` of the list that ``tape.gradient`` is asked for."""
    below = [s for s in scopes.function_lines(source, block) if source.line(s) > source.line(block)]
    asked = [edits.positional(c)[1] for s in below for c in source.own(s) if _asks(c)]
    watches = [
        c for s in source.within(block) if edits.called(s) == "watch" for c in [s] if edits.positional(c)
    ]
    for call in watches:
        for names in asked[:1]:
            told = f"watch `{source.code(names)}`"
            yield from case.change(
                told, source, edits.written(source, edits.positional(call)[0], source.code(names))
            )


def _asks(call: Node) -> bool:
    return edits.called(call) == "gradient" and len(edits.positional(call)) > 1


def _watched(case: Case, source: Source, stmt: Node, block: Node) -> Iterator[Candidate]:
    """``tape.watch(action)`` for what the tape is asked for and is no variable."""
    tapes = [edits.name_of(i.asname.name) for i in block.items if i.asname is not None]
    for call in source.at(source.line(stmt), cst.Call):
        if edits.called(call) == "gradient" and len(edits.positional(call)) > 1:
            asked = edits.positional(call)[1]
            if edits.name_of(asked) and tapes:
                first = block.body.body[0]
                new = edits.statement(f"{tapes[0]}.watch({source.code(asked)})")
                made = scopes.assigned(source, stmt, edits.name_of(asked))
                inside = made is not None and block in list(source.around(made))
                where = edits.after(made, new) if inside else edits.before(first, new)
                yield from case.change(f"watch `{source.code(asked)}`", source, where)
