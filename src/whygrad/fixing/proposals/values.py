"""Values that leave the framework, or pass an operation without a gradient: the same inside of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from whygrad.fixing import edits, scopes
from whygrad.fixing.case import Candidate, Case
from whygrad.fixing.proposals.table import cures
from whygrad.fixing.source import Node, Source
from whygrad.model import Mark

_EXITS = frozenset({"item", "numpy", "tolist", "cpu", "detach"})
_RETURNS = frozenset(
    {"tensor", "as_tensor", "from_numpy", "FloatTensor", "Tensor", "constant", "convert_to_tensor", "array"}
    | {"asarray", "float32", "float"}
)
_IN_TORCH = {"clip": "clamp", "mean": "mean", "sum": "sum", "log": "log", "exp": "exp", "sqrt": "sqrt"}
_IN_TORCH |= {"concatenate": "cat", "stack": "stack", "array": "stack", "vstack": "vstack"}
_IN_TORCH |= {"abs": "abs", "maximum": "maximum", "minimum": "minimum", "square": "square", "tanh": "tanh"}
_IN_TENSORFLOW = {"clip": "clip_by_value", "mean": "reduce_mean", "sum": "reduce_sum", "log": "math.log"}
_IN_TENSORFLOW |= {"exp": "exp", "sqrt": "sqrt", "abs": "abs", "max": "reduce_max", "min": "reduce_min"}
_IN_TENSORFLOW |= {"stack": "stack", "array": "stack"}
_IN_TENSORFLOW |= {"maximum": "maximum", "minimum": "minimum", "square": "square", "tanh": "tanh"}


@cures("numpy-round-trip")
def stay_inside(case: Case) -> Iterator[Candidate]:
    """Without ``.item()``, ``float()``, ``np.clip`` and the new tensor that they end in."""
    source = case.source
    if source is None:
        return
    for joined in ("stack", "cat"):
        yield from _joined(case, source, joined)
    sites = [s for s in case.steps(Mark.CUT) if s.file == case.site.file] or [case.site]
    lines = sorted({s.line for s in (*sites, case.site)})
    single = [change for line in lines for change in _inside(case, source, line)]
    for changes in single:
        yield from case.change("stay in the framework", source, edits.tidied(source, changes))
    later = [s.line for s in case.steps() if s.file == case.site.file and s.line >= lines[0]]
    if later:
        together = _whole_stretch(case, source, lines[0], max(later))
        yield from case.change("stay in the framework all the way", source, edits.tidied(source, together))


def _joined(case: Case, source: Source, function: str) -> Iterator[Candidate]:
    """``torch.tensor(log_probs)`` of a list of tensors as ``torch.stack(log_probs)``."""
    for call in source.at(case.site.line, cst.Call):
        if edits.called(call) in _RETURNS and edits.positional(call):
            first = edits.positional(call)[0]
            if isinstance(first, cst.Name | cst.Attribute | cst.List | cst.ListComp):
                prefix = "torch" if case.in_torch else "tf"
                name = function if case.in_torch or function == "stack" else "concat"
                rest = "" if case.in_torch or function == "stack" else ", axis=0"
                inside = edits.merged(*_leaving(case, source, first))
                text = f"{prefix}.{name}({source.code_with(first, inside)}{rest})"
                yield from case.change(f"`{prefix}.{name}`", source, edits.written(source, call, text))


def _inside(case: Case, source: Source, line: int) -> Iterator[edits.Changes]:
    """Everything of a line that leaves, rewritten at once; and the smaller ways."""
    stmt = source.statement(line)
    if stmt is not None:
        yield from _leaving(case, source, stmt)


def _leaving(case: Case, source: Source, part: Node) -> Iterator[edits.Changes]:
    """The outermost calls of a part that leave, each as it is inside."""
    nodes = list(source.own(part))
    for node in nodes:
        if _leaves(node) and not any(n in nodes and _leaves(n) for n in source.around(node)):
            yield edits.written(source, node, inside(case, source, node))


def _leaves(node: Node) -> bool:
    return isinstance(node, cst.Call) and (
        edits.called(node) in _EXITS | _RETURNS | {"predict", "numpy_function"} or _of_numpy(node)
    )


def _of_numpy(call: Node) -> bool:
    return isinstance(call, cst.Call) and edits.name_of(call.func).startswith(("np.", "numpy."))


def inside(case: Case, source: Source, node: Node) -> str:
    """What is written there without leaving the framework."""
    name = edits.called(node)
    if name in _EXITS and edits.owner(node) is not None and not node.args:
        return inside(case, source, edits.owner(node))
    if name == "predict" and edits.positional(node):
        given = source.code(edits.positional(node)[0])
        return f"{source.code(edits.owner(node))}({given})"
    if name == "numpy_function":
        return source.code(node).replace("numpy_function", "py_function", 1)
    if _of_numpy(node):
        return _of_framework(case, source, node)
    if isinstance(node, cst.Call) and name in _RETURNS and edits.positional(node):
        return inside(case, source, edits.positional(node)[0])
    if isinstance(node, cst.BinaryOperation | cst.UnaryOperation):
        return source.code_with(node, edits.merged(*_leaving(case, source, node)))
    return source.code(node)


def _of_framework(case: Case, source: Source, call: Node) -> str:
    """``np.clip(x, a, b)`` as ``torch.clamp(x, a, b)``; what is not known is left out of the way."""
    table = _IN_TORCH if case.in_torch else _IN_TENSORFLOW
    name = edits.called(call)
    given = [inside(case, source, value) for value in edits.positional(call)]
    if name in table and given:
        named = [f"{a.keyword.value}={source.code(a.value)}" for a in call.args if a.keyword is not None]
        return f"{'torch' if case.in_torch else 'tf'}.{table[name]}({', '.join([*given, *named])})"
    return given[0] if name in _RETURNS and given else source.code(call)


def _whole_stretch(case: Case, source: Source, first: int, last: int) -> edits.Changes:
    """All that leaves and comes back between two lines of a function."""
    found: edits.Changes = {}
    start = source.statement(first)
    for stmt in scopes.function_lines(source, start) if start is not None else ():
        if first <= source.line(stmt) <= last:
            for changes in _inside(case, source, source.line(stmt)):
                found.update(changes)
    return found


@cures("nondifferentiable-op")
def with_a_gradient(case: Case) -> Iterator[Candidate]:
    """``rsample``, ``gumbel_softmax``, or the straight-through form."""
    source = case.source
    if source is None:
        return
    for call in source.at(case.site.line, cst.Call):
        yield from _drawn(case, source, call)
        yield from _one_hot(case, source, call)
        yield from _picked(case, source, call)
    for call in source.at(case.site.line, cst.Call):
        yield from _straight_through(case, source, call)
    for call in source.at(case.site.line, cst.Call):
        yield from _relaxed(case, source, call)


def _drawn(case: Case, source: Source, call: Node) -> Iterator[Candidate]:
    if case.in_torch and edits.called(call) == "sample":
        new = call.func.with_changes(attr=cst.Name("rsample"))
        yield from case.change("`rsample()`", source, {call.func: new})


def _one_hot(case: Case, source: Source, call: Node) -> Iterator[Candidate]:
    """``one_hot(argmax(x), n)`` as something that lets the gradient through."""
    if edits.called(call) != "one_hot" or not edits.positional(call):
        return
    best = edits.positional(call)[0]
    scores = edits.owner(best) if case.in_torch and edits.owner(best) is not None else None
    if edits.called(best) != "argmax":
        return
    if scores is None or edits.name_of(scores) == "torch":
        scores = edits.positional(best)[0] if edits.positional(best) else None
    if scores is None:
        return
    outer = source.parent(source.parent(call))
    whole = outer if edits.called(outer) == "float" and edits.owner(outer) is call else call
    x = source.code(scores)
    if case.in_torch:
        prefix = "F." if "F" in edits.imported(source) else "torch.nn.functional."
        text = f"{prefix}gumbel_softmax({x}, tau=1.0, hard=True)"
    else:
        soft = f"tf.nn.softmax({x}, axis=-1)"
        text = f"{soft} + tf.stop_gradient({source.code(whole)} - {soft})"
    yield from case.change("let the gradient pass", source, edits.written(source, whole, text))


def _picked(case: Case, source: Source, call: Node) -> Iterator[Candidate]:
    """``q.argmax(1)`` as a prediction: the value of the action that was taken, if one is there."""
    if not case.in_torch or edits.called(call) != "argmax" or edits.called(source.parent(call)) == "one_hot":
        return
    scores = edits.owner(call) if edits.positional(call)[1:] == [] else None
    if scores is None or edits.name_of(scores) == "torch":
        return
    whole = call
    for outer in source.around(call):
        if isinstance(outer, cst.Call) and edits.called(outer) == "float" and not outer.args:
            whole = outer
    for name in scopes.given_above(source, call):
        if re.search(r"(?:^|_)act(?:ion)?s?$", name):
            for index in (name, f"{name}.unsqueeze(1)"):
                text = f"{source.code(scores)}.gather(1, {index}).squeeze(1)"
                yield from case.change(f"the value of `{name}`", source, edits.written(source, whole, text))


def _straight_through(case: Case, source: Source, call: Node) -> Iterator[Candidate]:
    """``round(x)`` as ``x + (round(x) - x).detach()``; a cast of a comparison likewise."""
    name, given = edits.called(call), edits.positional(call)
    inner = given[0] if given and not _is_tensor_method(call) else edits.owner(call)
    if inner is None or name not in ("round", "sign", "floor", "ceil", "heaviside", "cast", "float"):
        return
    if isinstance(inner, cst.Comparison):
        inner = inner.left
    elif name in ("cast", "float"):
        return
    x, hard = edits.atom(source, inner), source.code(call)
    stop = f"({hard} - {x}).detach()" if case.in_torch else f"{edits.stopper(source)}({hard} - {x})"
    yield from case.change("the straight-through form", source, edits.written(source, call, f"{x} + {stop}"))


def _relaxed(case: Case, source: Source, call: Node) -> Iterator[Candidate]:
    """``OneHotCategorical(...).sample()`` as a sample of the relaxed one, which has a gradient."""
    dist = edits.owner(call) if edits.called(call) == "sample" else None
    if dist is None or edits.called(dist) != "OneHotCategorical" or case.in_torch:
        return
    rest = [a for a in dist.args if a.keyword is None or a.keyword.value != "dtype"]
    given = ", ".join(source.code(a).rstrip(", ") for a in rest)
    prefix = source.code(dist.func).rpartition(".")[0]
    text = f"{prefix}.RelaxedOneHotCategorical(1.0, {given}).sample()"
    yield from case.change("a relaxed sample", source, edits.written(source, call, text))


@cures("nondifferentiable-op")
def before_it_was_assigned(case: Case) -> Iterator[Candidate]:
    """``state.assign(value)`` keeps no history: ``value`` where ``state`` is read below."""
    source = case.source
    stmt = source.statement(case.site.line) if source else None
    around = scopes.function_lines(source, stmt) if source is not None and stmt is not None else []
    for where, call in [(s, c) for s in around for c in source.own(s)] if source is not None else []:
        given = edits.positional(call) if edits.called(call) == "assign" else []
        if source is None or not given or not edits.name_of(given[0]):
            continue
        held = edits.name_of(edits.owner(call))
        for use in around:
            if held and source.line(use) > source.line(where):
                made = edits.renamed(source, source.own(use), held, edits.name_of(given[0]))
                yield from case.change(f"`{edits.name_of(given[0])}` itself", source, made)


def _is_tensor_method(call: Node) -> bool:
    return not call.args
