"""Rewrites one line of the user's source for a fix, or says that it cannot (``None``).

Everything goes through the syntax tree, so that strings and comments are never touched; a line that is
only a piece of a statement is completed first. Where the same pattern stands twice in a line nobody knows
which one was meant, so nothing is rewritten.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from whygrad.rules.syntax import complete, dot_after, method_calls, parsed, replaced, segment, walk

_LIBRARIES = frozenset(
    {"torch", "F", "np", "nn", "math", "print", "float", "int", "len", "sum", "min", "max"}
    | {"tf", "keras", "ops", "tfd", "tfp", "layers"}
)
_METHODS = frozenset(
    {"mean", "sum", "min", "max", "squeeze", "unsqueeze", "view", "reshape", "clamp", "pow", "to", "gather"}
    | {
        "append",
        "log_prob",
        "Normal",
        "Categorical",
        "mse_loss",
        "smooth_l1_loss",
        "huber_loss",
        "cat",
        "stack",
    }
)
_LOOSE = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Lambda)


def uncommented(code: str) -> str:
    """The line without its comment."""
    tree = parsed(code)
    end = tree.body[-1].end_col_offset if tree and tree.body else None
    return code.encode()[:end].decode() if tree and len(code.splitlines()) == 1 else code


def calls(code: str) -> list[str]:
    """The calls in a line that may be calls of networks: not of a library, not a tensor's method."""
    return [segment(code, n) for n in walk(code) if isinstance(n, ast.Call) and _may_be_network(n)]


def addends(code: str) -> list[str]:
    """The terms of the sum that the line gives a name to or returns; the one value where it is no sum."""
    match parsed(complete(uncommented(code).strip())):
        case ast.Module(body=[ast.Assign(value=value) | ast.Return(value=ast.expr() as value)]):
            return [segment(complete(uncommented(code).strip()), node) for node in _terms(value)]
    return []


def _terms(value: ast.expr) -> list[ast.expr]:
    match value:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return [*_terms(left), right]
    return [value]


def calls_around(code: str, what: str) -> list[str]:
    """The calls that get the value of ``what`` (``.detach()``) as an argument, without that part."""
    found = [call for call in calls(code) if what and any(what in part for part in _arguments(call))]
    return [unwrapped(call, what) or call.replace(what, "", 1) for call in found]


def _arguments(call: str) -> list[str]:
    match parsed(call):
        case ast.Module(body=[ast.Expr(value=ast.Call(args=args, keywords=keywords))]):
            return [ast.unparse(a) for a in (*args, *(k.value for k in keywords))]
    return []


def _may_be_network(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    return bool(call.args) and name.split(".")[0] not in _LIBRARIES and name.split(".")[-1] not in _METHODS


def without_calls(code: str, *methods: str) -> str | None:
    """The line with ``.detach()`` (one method, or a chain such as ``.detach().cpu().numpy()``) taken out."""
    owners = {call: owner for call, owner in method_calls(code, methods) if not call.args}
    tops = [call for call in owners if call not in owners.values()]
    if len(tops) != 1:
        return None
    bottom: ast.expr = tops[0]
    while isinstance(bottom, ast.Call) and bottom in owners:
        bottom = owners[bottom]
    return replaced(code, dot_after(code, bottom), tops[0], "")


def without_attribute(code: str, name: str) -> str | None:
    """The line with ``.data`` taken out."""
    found = [n for n in walk(code) if isinstance(n, ast.Attribute) and n.attr == name]
    found = [n for n in found if ast.unparse(n.value) != "self"]
    return replaced(code, dot_after(code, found[0].value), found[0], "") if len(found) == 1 else None


def renamed_method(code: str, old: str, new: str) -> str | None:
    """The line with ``.sample(`` turned into ``.rsample(``."""
    found = method_calls(code, (old,))
    if len(found) != 1:
        return None
    call, owner = found[0]
    return replaced(code, dot_after(code, owner), call.func, f".{new}")


def unwrapped(code: str, *functions: str) -> str | None:
    """The line with ``float(x)`` or ``torch.tensor(x, ...)`` turned into ``x``."""
    found = _calls_of(code, *functions)
    if len(found) != 1:
        return None
    return replaced(code, found[0].col_offset, found[0], _operand(code, found[0], found[0].args[0]))


def renamed_call(code: str, old: str, new: str, keywords: tuple[str, ...]) -> str | None:
    """The line with ``np.clip(...)`` turned into ``tf.clip_by_value(...)``, which knows these keywords."""
    found = _calls_of(code, old)
    if len(found) != 1 or any(k.arg not in keywords for k in found[0].keywords):
        return None
    return replaced(code, found[0].col_offset, found[0].func, new)


def called(code: str, method: str) -> str | None:
    """``net.predict(x, verbose=0)`` as ``net(x)``."""
    found = [(call, owner) for call, owner in method_calls(code, (method,)) if call.args]
    if len(found) != 1:
        return None
    call, owner = found[0]
    return replaced(code, call.col_offset, call, f"{segment(code, owner)}({segment(code, call.args[0])})")


def applied(code: str, function: str) -> str | None:
    """``tf.numpy_function(f, [x, y], tf.float32)`` as ``f(x, y)``."""
    found = _calls_of(code, function)
    match [(call, call.args[:2]) for call in found]:
        case [(call, [ast.Name() | ast.Attribute() as inner, ast.List() | ast.Tuple() as given])]:
            taken = ", ".join(segment(code, value) for value in given.elts)
            return replaced(code, call.col_offset, call, f"{segment(code, inner)}({taken})")
    return None


def straight_through(code: str, function: str, stopped: Callable[[str], str]) -> str | None:
    """``tf.round(x)`` as ``(x + tf.stop_gradient(tf.round(x) - x))``, ``stopped`` by the dialect."""
    found = _calls_of(code, function)
    if len(found) != 1 or len(found[0].args) != 1 or found[0].keywords:
        return None
    x = segment(code, found[0].args[0])
    if not isinstance(found[0].args[0], ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        x = f"({x})"
    made = f"{x} + {stopped(f'{segment(code, found[0])} - {x}')}"
    return replaced(code, found[0].col_offset, found[0], f"({made})" if _tight(code, found[0]) else made)


def factor_only(code: str, function: str, constant: str) -> str | None:
    """``f(a * b)`` as ``a * f(b)``, where the name of one factor says that it is the constant one."""
    found = _calls_of(code, function)
    match found:
        case [ast.Call(args=[ast.BinOp(op=ast.Mult(), left=left, right=right)])]:
            sides = [re.search(constant, ast.unparse(side)) is not None for side in (left, right)]
            if sum(sides) == 1:
                texts = [segment(code, side) for side in (left, right)]
                made = " * ".join(f"{function}({t})" if s else t for t, s in zip(texts, sides, strict=True))
                made = f"({made})" if _tight(code, found[0]) else made
                return replaced(code, found[0].col_offset, found[0], made)
    return None


def without_keyword(code: str, name: str) -> str | None:
    """The line without ``trainable=False`` in its only call that has it."""
    found = [n for n in walk(code) if isinstance(n, ast.Call) and any(k.arg == name for k in n.keywords)]
    if len(found) != 1:
        return None
    kept = [segment(code, a) for a in found[0].args]
    kept += [f"{k.arg}={segment(code, k.value)}" for k in found[0].keywords if k.arg and k.arg != name]
    if any(k.arg is None for k in found[0].keywords):
        return None
    return replaced(code, found[0].col_offset, found[0], f"{ast.unparse(found[0].func)}({', '.join(kept)})")


def arguments_of(code: str, method: str) -> list[str]:
    """The arguments of the only call of this method: those of ``tape.gradient(loss, variables)``."""
    found = method_calls(code, (method,))
    return [segment(code, value) for value in found[0][0].args] if len(found) == 1 else []


def owner_of(code: str, method: str) -> str:
    """What the only call of this method, or function, works on: ``q_net(s)`` of ``q_net(s).argmax(1)``."""
    match method_calls(code, (method,)):
        case [(call, owner)]:
            text = segment(code, owner)
            return segment(code, call.args[0]) if text in _LIBRARIES and call.args else text
    return ""


def maker_in(code: str) -> tuple[str, str]:
    """``h = Dense(8)(x)``, a layer made and called at once: ``Dense(8)`` and ``h = {}(x)``."""
    made = [n.func for n in walk(code) if isinstance(n, ast.Call) and isinstance(n.func, ast.Call)]
    if len(made) != 1:
        return "", ""
    escaped = replaced(code, made[0].col_offset, made[0], "{}")
    return (segment(code, made[0]), escaped) if escaped and escaped.count("{") == 1 else ("", "")


def assigned_by_call(code: str) -> tuple[str, str]:
    """``state.assign(new)``: ``state`` and ``new``; nothing where the line is something else."""
    match method_calls(code, ("assign", "assign_add", "assign_sub")):
        case [(ast.Call(args=[value, *_]), owner)]:
            return segment(code, owner), segment(code, value)
    return "", ""


def _calls_of(code: str, *functions: str) -> list[ast.Call]:
    calls = [n for n in walk(code) if isinstance(n, ast.Call) and n.args]
    return [n for n in calls if ast.unparse(n.func) in functions]


def _tight(code: str, node: ast.expr) -> bool:
    """Does something bind this expression so closely that an operator put in its place needs brackets?"""
    bound: list[ast.AST] = []
    for parent in walk(code):
        match parent:
            case ast.Attribute(value=child) | ast.Subscript(value=child) | ast.Call(func=child):
                bound.append(child)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp():
                bound += ast.iter_child_nodes(parent)
    place = (node.col_offset, node.end_col_offset)
    return any(isinstance(n, ast.expr) and (n.col_offset, n.end_col_offset) == place for n in bound)


def _operand(code: str, call: ast.expr, value: ast.expr) -> str:
    """The value as it can stand where the call stood."""
    text = segment(code, value)
    return f"({text})" if isinstance(value, _LOOSE) and _tight(code, call) else text


def bracketed(value: str) -> str:
    """An expression as it can stand before a dot: ``(a - b)``, and ``x`` as it is."""
    match parsed(value):
        case ast.Module(body=[ast.Expr(value=ast.expr() as inner)]) if (
            isinstance(inner, _LOOSE) and inner.col_offset == 0
        ):
            return f"({value})"
    return value


def wrapped_value(code: str, wrapper: Callable[[ast.expr], str]) -> str | None:
    """``x = value`` as ``x = wrapper(value)``; the wrapper is chosen by the value, empty for none."""
    match parsed(complete(code)):
        case ast.Module(body=[ast.Assign(targets=[_], value=value)]) if wrapper(value):
            return replaced(code, value.col_offset, value, f"{wrapper(value)}({segment(code, value)})")
    return None


def moved_inside(code: str, function: str) -> str | None:
    """``nn.Parameter(x).float()`` as ``nn.Parameter(x.float())``."""
    for call, inner in method_calls(code):
        if isinstance(inner, ast.Call) and inner.args and ast.unparse(inner.func).endswith(function):
            tail = segment(code, call)[len(segment(code, inner)) :]
            value = segment(code, inner.args[0])
            if not isinstance(inner.args[0], ast.Call | ast.Name | ast.Attribute):
                value = f"({value})"
            made = f"{ast.unparse(inner.func)}({value}{tail})"
            return replaced(code, call.col_offset, call, made)
    return None


def out_of_place(code: str) -> str | None:
    """``x += y`` as ``x = x + y``; ``x.mul_(y).add_(z)`` as ``x = x.mul(y).add(z)``."""
    match parsed(code):
        case ast.Module(
            body=[ast.AugAssign(target=ast.Name() | ast.Attribute() as target, value=value, op=op)]
        ):
            left = ast.parse(ast.unparse(target), mode="eval").body
            return f"{ast.unparse(target)} = {ast.unparse(ast.BinOp(left=left, op=op, right=value))}"
        case ast.Module(body=[ast.Expr(value=ast.Call() as call)]):
            return _kept_chain(call)
    return None


def _kept_chain(call: ast.Call) -> str | None:
    """``x.mul_(y).add_(z)``, calls that write in place and nothing else, as one assignment."""
    links: list[ast.Attribute] = []
    here: ast.expr = call
    while isinstance(here, ast.Call) and isinstance(here.func, ast.Attribute) and here.func.attr[-1] == "_":
        links.append(here.func)
        here = here.func.value
    if not links or not isinstance(here, ast.Name | ast.Attribute):
        return None
    for link in links:
        link.attr = link.attr[:-1]
    return f"{ast.unparse(here)} = {ast.unparse(call)}"


def written_element(code: str) -> str:
    """``x`` in ``x[mask] = 0``; nothing where the line is something else."""
    match parsed(code):
        case (
            ast.Module(body=[ast.Assign(targets=[ast.Subscript(value=owner)])])
            | ast.Module(body=[ast.AugAssign(target=ast.Subscript(value=owner))])
        ) if isinstance(owner, ast.Name | ast.Attribute):
            return ast.unparse(owner)
    return ""


def loaded_into(code: str, copied: Callable[[str, str], str]) -> str | None:
    """``self.net = loaded`` as ``self.net.load_state_dict(loaded.state_dict())``, as the dialect copies."""
    match parsed(code):
        case ast.Module(body=[ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value)]):
            return copied(segment(code, target), segment(code, value))
    return None


def with_name(code: str, old: str, new: str) -> str | None:
    """The line with the network ``old`` replaced by ``new`` everywhere."""
    if not old or not new:
        return None
    text, times = re.subn(rf"(?<![\w.]){re.escape(old)}(?!\w)", lambda _: new, code)
    return text if times and text != code else None


def carried(code: str) -> str:
    """The name that a line takes and gives back, as ``h`` in ``q, h = net(obs, h)``; empty without one."""
    match parsed(complete(code)):
        case ast.Module(body=[ast.Assign(targets=[target], value=value)]):
            taken = {ast.unparse(n) for n in ast.walk(value) if isinstance(n, ast.Name | ast.Attribute)}
            given = target.elts if isinstance(target, ast.Tuple) else [target]
            return next((name for name in map(ast.unparse, given) if name in taken), "")
    return ""


def assigned(code: str) -> str:
    """The one name that the line assigns to, if it does."""
    match parsed(complete(code)):
        case ast.Module(body=[ast.Assign(targets=[ast.Name() | ast.Attribute() as target])]):
            return ast.unparse(target)
    return ""


def given(code: str) -> tuple[str, str]:
    """``x = value``: ``x`` and ``value``; nothing where the line is something else."""
    match parsed(complete(code)):
        case ast.Module(body=[ast.Assign(targets=[ast.Name() as target], value=value)]):
            return target.id, segment(code, value)
    return "", ""


def is_list(value: str) -> bool:
    """A list that is written out, or made by a comprehension."""
    match parsed(value):
        case ast.Module(body=[ast.Expr(value=ast.List() | ast.ListComp())]):
            return True
    return False


def is_idle(code: str) -> bool:
    """``x = x``: nothing happens in this line."""
    match parsed(code):
        case ast.Module(body=[ast.Assign(targets=[target], value=value)]):
            return ast.unparse(target) == ast.unparse(value)
    return False


def stopped_value(code: str, name: str, stopped: Callable[[str], str]) -> str | None:
    """``r + gamma * v2 - v`` with ``v2`` stopped; without its name, the one product that calls something."""
    named = [n for n in walk(code) if isinstance(n, ast.expr) and ast.unparse(n) == name]
    if name and len(named) == 1:
        return replaced(code, named[0].col_offset, named[0], stopped(name))
    products = [n for n in walk(code) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
    outer = [n for n in products if not any(n is not m and n in ast.walk(m) for m in products)]
    calling = [n for n in outer if any(isinstance(inner, ast.Call) for inner in ast.walk(n))]
    if len(calling) != 1:
        return None
    return replaced(code, calling[0].col_offset, calling[0], stopped(segment(code, calling[0])))
