"""Who belongs to whom: parameters of an optimizer, of a model, of a compiled function."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source


@cures("frozen")
def not_frozen(case: Case) -> Iterator[Candidate]:
    """The line that freezes, away; or its keyword; or another network in its place."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    for name in ("requires_grad", "trainable"):
        for call in source.at(case.site.line, cst.Call):
            given = edits.keyword(call, name)
            if given is not None:
                rest = [a for a in call.args if a is not given]
                if rest:
                    rest[-1] = rest[-1].with_changes(comma=call.args[-1].comma)
                changed = call.with_changes(args=rest)
                yield from case.change(f"leave out `{name}=False`", source, {call: changed})
    yield from _told_to_the_parameters(case, source, stmt)
    whole = _loop_around(source, stmt)
    for wrong in case.networks:
        for other in case.other_networks:
            old, new = scopes.spoken(source, whole, wrong), scopes.spoken(source, whole, other)
            if old and new and other in case.role("target"):
                changes = edits.renamed(source, source.within(whole), old, new)
                yield from case.change(f"freeze `{new}`, not `{old}`", source, changes)
    if _only_freezes(source, stmt):
        yield from case.change("leave it unfrozen", source, edits.without(source, whole))


def _told_to_the_parameters(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """``encoder.requires_grad = True`` sets an attribute of a module: ``requires_grad_(True)``."""
    match stmt:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(
                    targets=[
                        cst.AssignTarget(target=cst.Attribute(value=held, attr=cst.Name("requires_grad")))
                    ],
                    value=value,
                )
            ]
        ):
            new = edits.statement(f"{source.code(held)}.requires_grad_({source.code(value)})")
            told = "`requires_grad_`, which tells its parameters"
            yield from case.change(told, source, {stmt: stmt.with_changes(body=new.body)})


def _loop_around(source: Source, stmt: Node) -> Node:
    """The ``for p in net.parameters():`` that has no other line."""
    block = source.parent(stmt)
    loop = source.parent(block) if block is not None else None
    return loop if isinstance(loop, cst.For) and len(source.block(stmt)) == 1 else stmt


def _only_freezes(source: Source, stmt: Node) -> bool:
    code = source.code(stmt).replace(" ", "")
    return any(
        word in code for word in (".requires_grad_(False)", ".requires_grad=False", ".trainable=False")
    )


@cures("not-in-optimizer", "not-tracked")
def held_as_well(case: Case) -> Iterator[Candidate]:
    """``[*net.parameters(), *encoder.parameters()]`` where the optimizer is made, or is given a list."""
    if case.finding.rule == "not-tracked" and case.in_torch:
        return
    attribute = "parameters()" if case.in_torch else "trainable_variables"
    for site in dict.fromkeys([case.site, *case.makers()] if case.in_torch else [case.site]):
        source = case.read(site.file)
        stmt = source.statement(site.line) if source else None
        if source is None or stmt is None:
            continue
        if not case.in_torch:
            yield from _asked_as_well(case, source, attribute)
            return
        for call in source.own(stmt):
            if isinstance(call, cst.Call) and edits.positional(call):
                yield from _more(case, source, stmt, edits.positional(call)[0], attribute)


def _members(case: Case, source: Source, near: Node, attribute: str) -> list[str]:
    """``encoder.parameters()``: of the parts that suffer, else of their network."""
    alone = [scopes.spoken(source, near, name) for name in case.finding.subjects]
    if case.finding.rule == "not-tracked" and all(alone):
        return [f"[{name}]" for name in alone]  # variables that no model knows
    parts = list(dict.fromkeys(s.rpartition(".")[0] for s in case.finding.subjects))
    for names in (case.networks, parts):
        said = [scopes.spoken(source, near, name) or _beside(case, source, near, name) for name in names]
        if said and all(said):
            return [f"{name}.{attribute}" for name in said]
    return []


def _beside(case: Case, source: Source, near: Node, network: str) -> str:
    """``self.net.body`` where nobody writes that, and ``self.net.head`` stands there."""
    parent, _, last = network.rpartition(".")
    for other in case.other_networks:
        if parent and other.rpartition(".")[0] == parent:
            said = scopes.spoken(source, near, other).rpartition(".")[0]
            if said:
                return f"{said}.{last}"
    return ""


def _more(case: Case, source: Source, stmt: Node, given: Node, attribute: str) -> Iterator[Candidate]:
    """The list with these in it: where it is written, or where its name is given its value."""
    members = _members(case, source, stmt, attribute)
    if not members or not ("parameters" in source.code(given) or isinstance(given, cst.Name | cst.List)):
        return
    told = f"add `{', '.join(members)}`"
    if isinstance(given, cst.Name):
        made = scopes.assigned(source, stmt, given.value)
        value = edits.value_of(made) if made is not None else None
        if value is not None:
            yield from case.change(told, source, _longer(source, value, members))
    yield from case.change(told, source, _longer(source, given, members))


def _longer(source: Source, value: Node, members: list[str]) -> edits.Changes:
    code, stars = source.code(value), ", ".join(f"*{m}" for m in members)
    match value:
        case cst.List() if not value.elements or "{" not in code:
            return edits.written(source, value, f"{code.rstrip()[:-1].rstrip().rstrip(',')}, {stars}]")
        case cst.Call() if edits.called(value) == "chain":
            return edits.written(source, value, f"{code[:-1].rstrip().rstrip(',')}, {', '.join(members)})")
        case cst.BinaryOperation(operator=cst.Add()):
            return edits.written(source, value, f"{code} + [{stars}]")
    return edits.written(source, value, f"[*{code}, {stars}]")


def _asked_as_well(case: Case, source: Source, attribute: str) -> Iterator[Candidate]:
    """TensorFlow: the list of variables, wherever it is written."""
    stmt = source.statement(case.site.line)
    asked = [
        c for c in source.own(stmt) if edits.called(c) in ("gradient", "zip", "minimize", "compute_gradients")
    ]
    names = {v.value for c in asked for v in edits.positional(c) if isinstance(v, cst.Name)}
    makers = [
        s for s in source.statements if {*edits.targets_of(s)} & names and "variables" in source.code(s)
    ]
    makers += [
        s for s in source.statements if edits.targets_of(s) and ".trainable_variables" in source.code(s)
    ]
    for made in dict.fromkeys(makers):
        value, members = edits.value_of(made), _members(case, source, made, attribute)
        if value is None or not members:
            continue
        told = f"add `{', '.join(members)}`"
        for text in _sums(source, value, members):
            yield from case.change(told, source, edits.written(source, value, text))
    members = _members(case, source, stmt, attribute)
    pairs = [c for c in source.within(source.module) if edits.called(c) in ("gradient", "zip")]
    lists = [v for c in pairs for v in edits.positional(c)[1:2] if "trainable_variables" in source.code(v)]
    changes = edits.merged(
        *(edits.written(source, v, f"{source.code(v)} + {' + '.join(members)}") for v in lists)
    )
    if members and changes:
        yield from case.change(f"add `{', '.join(members)}`", source, changes)


def _sums(source: Source, value: Node, members: list[str]) -> Iterator[str]:
    code = source.code(value)
    if isinstance(value, cst.Subscript):
        yield source.code(value.value)  # a slice that leaves the rest out
    if isinstance(value, cst.List | cst.ListComp) or "variables" in code:
        yield f"{code} + {' + '.join(members)}"


def _held(source: Source, value: Node) -> tuple[str, ...]:
    """What a container is made of, as far as its text tells."""
    made = {edits.called(n) for n in source.within(value) if isinstance(n, cst.Call)}
    if made & {"Parameter", "randn", "rand", "zeros", "ones", "full", "tensor", "empty"}:
        return ("Parameter",)
    return ("Module",) if any(name[:1].isupper() for name in made) else ("Module", "Parameter")


@cures("not-tracked")
def tracked(case: Case) -> Iterator[Candidate]:
    """A plain list as ``nn.ModuleList``, a dict as ``nn.ModuleDict``, a tensor as ``nn.Parameter``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    value = edits.value_of(stmt) if stmt is not None else None
    if source is None or value is None or not case.in_torch:
        return
    names = edits.imported(source)
    nn = "nn" if "nn" in names else "torch.nn"
    code = source.code(value)
    holds = _held(source, value)
    if isinstance(value, cst.Dict | cst.DictComp):
        wraps = [f"{nn}.{kind}Dict({code})" for kind in holds]
    elif isinstance(value, cst.List | cst.ListComp | cst.Tuple):
        wraps = [f"{nn}.{kind}List({code})" for kind in holds]
    else:
        plain = _without_keyword(source, value, "requires_grad")
        wraps = [f"{nn}.Parameter({plain})", f"{nn}.ModuleList({code})"]
    for text in wraps:
        yield from case.change(f"`{text.partition('(')[0]}`", source, edits.written(source, value, text))


@cures("not-tracked")
def a_variable_of_keras(case: Case) -> Iterator[Candidate]:
    """Keras 3 does not know a ``tf.Variable``: ``keras.Variable``."""
    source = case.source
    if source is None or case.in_torch:
        return
    for call in source.at(case.site.line, cst.Call):
        if edits.name_of(call.func) == "tf.Variable":
            names = edits.imported(source)
            prefix = "keras" if "keras" in names else "tf.keras"
            yield from case.change(
                f"`{prefix}.Variable`", source, edits.written(source, call.func, f"{prefix}.Variable")
            )


@cures("not-tracked")
def made_once(case: Case) -> Iterator[Candidate]:
    """A layer that is made in ``forward``: made in ``__init__``, or the one that stands there already."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    function = source.function(stmt) if source and stmt is not None else None
    if source is None or stmt is None or function is None or function.name.value == "__init__":
        return
    mates = [s for s in source.block(function) if isinstance(s, cst.FunctionDef)]
    beginning = next((s for s in mates if s.name.value == "__init__"), None)
    if beginning is None:
        return
    own = [n for s in source.block(beginning.body.body[0]) for n in edits.targets_of(s)]
    value, name = edits.value_of(stmt), next(iter(edits.targets_of(stmt)), "")
    if isinstance(value, cst.Call) and name.isidentifier() and not isinstance(value.func, cst.Call):
        if f"self.{name}" in own:
            yield from case.change(f"`self.{name}`", source, edits.written(source, value, f"self.{name}"))
        uses = [n for s in scopes.function_lines(source, stmt) for n in source.own(s) if s is not stmt]
        yield from _into_init(
            case, source, beginning, value, name, edits.renamed(source, uses, name, f"self.{name}"), stmt
        )
    for call in source.own(stmt):
        if (
            isinstance(call, cst.Call)
            and isinstance(call.func, cst.Call)
            and edits.called(call.func)[:1].isupper()
        ):
            name = f"{edits.called(call.func).lower()}_{function.name.value}"
            used = edits.written(source, call.func, f"self.{name}")
            yield from _into_init(case, source, beginning, call.func, name, used, None)


def _into_init(
    case: Case,
    source: Source,
    beginning: Node,
    value: Node,
    name: str,
    uses: edits.Changes,
    gone: Node | None,
) -> Iterator[Candidate]:
    """The layer below the last line of ``__init__``, and its uses under its new name."""
    last = beginning.body.body[-1]
    made = edits.after(last, edits.statement(f"self.{name} = {source.code(value)}"))
    leaves = edits.without(source, gone) if gone is not None else {}
    yield from case.change("make it once, in `__init__`", source, {**made, **leaves, **uses})


def _without_keyword(source: Source, call: Node, name: str) -> str:
    given = edits.keyword(call, name) if isinstance(call, cst.Call) else None
    if given is None:
        return source.code(call)
    rest = [a for a in call.args if a is not given]
    if rest:
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return source.module.code_for_node(call.with_changes(args=rest)).strip()


@cures("stale-optimizer", "stale-closure")
def made_again(case: Case) -> Iterator[Candidate]:
    """The line that made the optimizer, or the compiled function, once more below the replacement."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    if case.finding.rule == "stale-closure" and isinstance(stmt, cst.SimpleStatementLine):
        for place in _replacements(case, source, stmt):
            again = stmt.with_changes(leading_lines=[], trailing_whitespace=cst.TrailingWhitespace())
            yield from case.change("make it again", source, edits.after(place, again))
    yield from _made_by(case, source, stmt) if case.finding.rule == "stale-closure" else ()
    for site in case.makers() if case.finding.rule == "stale-optimizer" else ():
        maker = source.statement(site.line) if site.file == source.file else None
        if not isinstance(maker, cst.SimpleStatementLine):
            continue
        again = maker.with_changes(leading_lines=[], trailing_whitespace=cst.TrailingWhitespace())
        places = [stmt, *_uses_below(source, stmt)]
        for place in dict.fromkeys(places):
            yield from case.change("make the optimizer again", source, edits.after(place, again))


def _made_by(case: Case, source: Source, stmt: Node) -> Iterator[Candidate]:
    """A function that makes the compiled one: called again below each line that replaces what it reads."""
    functions = [n for n in (stmt, *source.around(stmt)) if isinstance(n, cst.FunctionDef)]
    for function in functions:
        reads = {n.value for n in source.within(function) if isinstance(n, cst.Name)}
        simple = [s for s in source.statements if isinstance(s, cst.SimpleStatementLine)]
        makers = [s for s in simple if any(edits.called(n) == function.name.value for n in source.own(s))]
        for maker in makers:
            again = maker.with_changes(leading_lines=[], trailing_whitespace=cst.TrailingWhitespace())
            later = [
                s for s in simple if source.line(s) > source.line(maker) and {*edits.targets_of(s)} & reads
            ]
            for place in (s for s in later if source.function(s) is source.function(maker)):
                yield from case.change("make it again", source, edits.after(place, again))


@cures("stale-optimizer")
def listed_again(case: Case) -> Iterator[Candidate]:
    """TensorFlow: the list of variables that was made before the replacement, once more below it."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None or case.in_torch:
        return
    for made in source.block(stmt):
        if edits.targets_of(made) and "trainable_variables" in source.code(made):
            again = made.with_changes(leading_lines=[], trailing_whitespace=cst.TrailingWhitespace())
            for place in dict.fromkeys([stmt, *_uses_below(source, stmt)]):
                yield from case.change("ask for the variables again", source, edits.after(place, again))


def _uses_below(source: Source, stmt: Node) -> list[Node]:
    """Lines further down that put the new one in its place: ``policy.set_head(new)``."""
    made = edits.targets_of(stmt)
    rest = [s for s in source.block(stmt) if source.line(s) > source.line(stmt)]
    simple = [s for s in rest if isinstance(s, cst.SimpleStatementLine)]
    users = [s for s in rest if any(edits.name_of(n) in made for n in source.own(s))]
    whole = {name.rpartition(".")[0] for name in made} - {""}  # ``policy(x)`` builds the new ``policy.head``
    builders = [s for s in simple if any(edits.name_of(n) in whole for n in source.own(s))]
    return list(dict.fromkeys([*users, *builders]))[:3]


def _replacements(case: Case, source: Source, maker: Node) -> list[Node]:
    """Where a name that the maker reads is given another value."""
    reads = {edits.name_of(n) for n in source.own(maker)} - {*edits.targets_of(maker), ""}
    later = [s for s in source.statements if s is not maker and {*edits.targets_of(s)} & reads]
    return [s for s in later if source.line(s) > source.line(maker)]


@cures("wrong-variables")
def not_used_up(case: Case) -> Iterator[Candidate]:
    """``weights = net.parameters()`` can be walked through once: ``list(net.parameters())``."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    if source is None or stmt is None:
        return
    for node in source.own(stmt):
        made = scopes.assigned(source, stmt, node.value) if isinstance(node, cst.Name) else None
        value = edits.value_of(made) if made is not None else None
        if edits.called(value) in ("parameters", "chain", "filter", "map"):
            text = f"list({source.code(value)})"
            yield from case.change("keep a list of them", source, edits.written(source, value, text))
