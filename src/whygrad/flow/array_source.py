"""Array expressions of the user's source, as operations: names followed to where they were given."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from whygrad.flow.array_names import Given, elements, given
from whygrad.flow.source import Function, scope_of, statement_at, tree
from whygrad.model import Flow, Kind, Op, Site

_DEEP = 40  # expressions within expressions
_FUNCTIONS: dict[str, Kind] = {
    **dict.fromkeys(
        ("max", "amax", "nanmax", "min", "amin", "nanmin", "take_along_axis", "take"), Kind.CHOOSE
    ),
    "minimum": Kind.SMALLER,
    "maximum": Kind.LARGER,
    **dict.fromkeys(("add",), Kind.ADD),
    **dict.fromkeys(("subtract",), Kind.SUBTRACT),
    **dict.fromkeys(("multiply",), Kind.MULTIPLY),
    **dict.fromkeys(("clip",), Kind.BOUND),
    **dict.fromkeys(("mean", "average"), Kind.MEAN),
    **dict.fromkeys(("sum", "dot"), Kind.SUM),
    **dict.fromkeys(("where",), Kind.WHERE),
    **dict.fromkeys(("stack", "vstack", "hstack", "concatenate"), Kind.JOIN),
    **dict.fromkeys(
        (
            *(
                "array",
                "asarray",
                "astype",
                "reshape",
                "flatten",
                "ravel",
                "squeeze",
                "copy",
                "deepcopy",
                "float",
            ),
            *("expand_dims", "list", "tolist", "item", "float32", "float64", "atleast_2d", "transpose"),
        ),
        Kind.RESHAPE,
    ),
}
_CHOICES = frozenset(
    ("argmax", "argmin", "argsort", "randint", "choice", "arange", "range", "len", "zeros", "ones")
)
_ARITHMETIC = {
    ast.Add: Kind.ADD,
    ast.Sub: Kind.SUBTRACT,
    ast.Mult: Kind.MULTIPLY,
    ast.Div: Kind.DIVIDE,
}
_REDUCING = frozenset((Kind.CHOOSE, Kind.MEAN, Kind.SUM))
_JOINS = frozenset(("append", "insert"))
_TRAINS = frozenset(("fit", "train_on_batch"))


@dataclass(frozen=True)
class Scope:
    """A line in a function, who called it, and what its arguments are."""

    file: str
    function: Function
    line: int
    callers: tuple[Site, ...] = ()
    tensors: frozenset[tuple[str, int]] = frozenset()  # lines on which gradient flows
    bound: dict[str, tuple[ast.expr, Scope]] = field(default_factory=dict)

    @classmethod
    def at(cls, sites: Sequence[Site], tensors: frozenset[tuple[str, int]]) -> Scope | None:
        """The innermost of these lines, called by the others."""
        module = tree(sites[0].file)
        if module is None:
            return None
        function = scope_of(module, sites[0].line)
        return cls(sites[0].file, function, sites[0].line, tuple(sites[1:]), tensors)

    def outside(self) -> Scope | None:
        """Where this function was called."""
        theirs = [s for s in self.callers if s.line]
        return Scope.at(theirs, self.tensors) if theirs else None

    def argument(self, name: str) -> tuple[ast.expr, Scope] | None:
        """What a parameter of the function was given."""
        if name in self.bound:
            return self.bound[name]
        outer = self.outside() if not isinstance(self.function, ast.Module) else None
        if outer is None or isinstance(self.function, ast.Module):
            return None
        statement = statement_at(outer.file, outer.line)
        for call in ast.walk(statement) if statement is not None else ():
            if isinstance(call, ast.Call) and _last(call.func) == self.function.name:
                found = arguments(self.function, call).get(name)
                return (found, outer) if found is not None else None
        return None


class Reader:
    """Makes operations of expressions, down to what has left the framework."""

    def __init__(self, flow: Flow, exits: list[Op], ends: list[Op]) -> None:
        self._flow, self._exits, self._ends = flow, exits, ends
        self._next = max(flow.ops, default=0) + 1
        self._open: set[tuple[int, str, int]] = set()
        self._depth = 0
        self.ops: dict[int, Op] = {}
        self._constant: int | None = None

    def read(self, node: ast.expr, scope: Scope) -> int | None:
        """The value of an expression; nothing if no network is behind it."""
        if self._depth > _DEEP:
            return None
        self._depth += 1
        try:
            return self._expression(node, scope)
        finally:
            self._depth -= 1

    def _expression(self, node: ast.expr, scope: Scope) -> int | None:
        if isinstance(node, ast.Name):
            return self._name(node, scope)
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            return self._op(_ARITHMETIC[type(node.op)], (node.left, node.right), node, scope)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._op(Kind.NEGATE, (node.operand,), node, scope)
        if isinstance(node, ast.IfExp):
            return self._op(Kind.WHERE, (node.body, node.orelse), node, scope)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._op(Kind.JOIN, node.elts, node, scope)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._op(Kind.JOIN, (node.elt,), node, _within(node, scope))
        if isinstance(node, ast.Subscript):
            many = isinstance(node.slice, ast.Tuple) and not any(
                isinstance(e, ast.Slice) for e in node.slice.elts
            )
            return self._op(Kind.CHOOSE if many else Kind.PICK, (node.value,), node, scope)
        if isinstance(node, ast.Attribute):
            return self._op(Kind.RESHAPE, (node.value,), node, scope) if node.attr in ("T", "data") else None
        return self._call(node, scope) if isinstance(node, ast.Call) else None

    def _op(self, kind: Kind, parts: Sequence[ast.expr], node: ast.expr, scope: Scope) -> int | None:
        return self._made(kind, [self.read(part, scope) for part in parts], node, scope)

    def _made(
        self,
        kind: Kind,
        values: Sequence[int | None],
        node: ast.AST,
        scope: Scope,
        axes: tuple[int, ...] = (),
    ) -> int | None:
        """An operation, if at least one of its inputs comes from a network; the others are data."""
        if all(value is None for value in values):
            return None
        inputs = tuple(self._data() if value is None else value for value in values)
        line = int(getattr(node, "lineno", scope.line))
        site = Site.read(scope.file, line, getattr(scope.function, "name", ""))
        return self._put(Op(self._next, kind.value, inputs, site=site, kind=kind, via="source", axes=axes))

    def _put(self, op: Op) -> int:
        self.ops[op.id] = op
        self._next = op.id + 1
        return op.id

    def _data(self) -> int:
        if self._constant is None:
            self._constant = self._put(Op(self._next, "array", fresh=True))
        return self._constant

    # -- names ---------------------------------------------------------------------------------------

    def _name(self, node: ast.Name, scope: Scope) -> int | None:
        key = (id(scope.function), node.id, scope.line)
        if key in self._open:
            return None
        self._open.add(key)
        try:
            found = given(scope.function, node.id, scope.line)
            if found:
                return self._given(found, scope)
            outer = scope.argument(node.id)
            return self.read(*outer) if outer is not None else None
        finally:
            self._open.discard(key)

    def _given(self, found: Sequence[Given], scope: Scope) -> int | None:
        """The values that a name was given, one after the other."""
        value: int | None = None
        for one in found:
            there = Scope(scope.file, scope.function, one.line, scope.callers, scope.tensors, scope.bound)
            new = self.read(one.value, there)
            if one.kind is not None:
                value = self._made(one.kind, (value, new), one.value, there)
            elif one.perhaps and value is not None:
                value = self._made(Kind.WHERE, (value, new), one.value, there)
            elif one.perhaps and new is not None:
                value = self._made(Kind.WHERE, (None, new), one.value, there)
            else:
                value = new if new is not None or not one.perhaps else value
        return value

    # -- calls ---------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, scope: Scope) -> int | None:
        name = _last(node.func)
        left = self._left(node, name, scope)
        if left is not None:
            return left
        if name in _CHOICES:
            return None
        method = isinstance(node.func, ast.Attribute) and not _is_module(node.func.value)
        operands = [
            *([node.func.value] if method and isinstance(node.func, ast.Attribute) else []),
            *node.args,
        ]
        kind = _FUNCTIONS.get(name) or (Kind.JOIN if name in _JOINS and not method else None)
        if kind is None:
            inside = self._entered(node, name, scope)
            return inside if inside is not None else self._ended(node, scope)
        one = name not in _JOINS  # np.append(values, last): both of them
        if one and kind in (Kind.CHOOSE, Kind.RESHAPE, Kind.MEAN, Kind.BOUND, Kind.JOIN):
            operands = operands[:1]
        if kind is Kind.WHERE:
            operands = operands[1:]
        values = [self.read(part, scope) for part in operands]
        if all(value is None for value in values) and values:
            values[0] = self._converted(node, scope)
        axes = self._along(node, values[0], method) if kind in _REDUCING and values else ()
        return self._made(kind, values, node, scope, axes)

    def _along(self, node: ast.Call, value: int | None, method: bool) -> tuple[int, ...]:
        """The dimensions of the rows and outputs of a network that a maximum or mean is taken over."""
        found = self._flow.ops.get(value) if value is not None else None
        if found is None or len(found.shape) != 2:
            return ()
        given = [k.value for k in node.keywords if k.arg == "axis"] or node.args[0 if method else 1 :][:1]
        if not given:
            return (0, 1)
        axis = given[0].value if isinstance(given[0], ast.Constant) else None
        return (axis,) if isinstance(axis, int) and axis in (0, 1) else ()

    def _left(self, node: ast.Call, name: str, scope: Scope) -> int | None:
        """``model.predict(s)``, ``tensor.numpy()``: what left the framework here."""
        return self._exit(node, scope, lambda exit_: exit_.name == name)

    def _converted(self, node: ast.Call, scope: Scope) -> int | None:
        """``np.max(tensor)``: an array was made of the tensor by numpy."""
        return self._exit(node, scope, lambda exit_: exit_.kind is not Kind.PREDICT and self._is_array(exit_))

    def _is_array(self, exit_: Op) -> bool:
        """Not a single number that left on the same line: ``gae(np.array(r), float(v))``."""
        return any(self._flow[i].shape != () for i in exit_.inputs)

    def _exit(self, node: ast.Call, scope: Scope, wanted: Callable[[Op], bool]) -> int | None:
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        here = [e for e in self._exits if e.site is not None and e.site.file == scope.file and wanted(e)]
        here = [e for e in here if e.site is not None and e.site.line in lines]
        if not here:
            return None
        found = list({e.inputs: e for e in here}.values())
        exit_ = found[min(_place(node, scope), len(found) - 1)] if len(lines) == 1 else found[-1]
        return exit_.id if exit_.kind is Kind.PREDICT else exit_.inputs[0]

    def _ended(self, node: ast.Call, scope: Scope) -> int | None:
        """``q(s)``, from which the framework has computed nothing: numpy reads tensors without telling."""
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        sites = [(end.id, end.site) for end in self._ends if end.site is not None]
        return next((i for i, site in sites if site.file == scope.file and site.line in lines), None)

    def _entered(self, node: ast.Call, name: str, scope: Scope) -> int | None:
        """A function of the same file: what it returns."""
        module = tree(scope.file)
        own = (
            [f for f in ast.walk(module) if isinstance(f, ast.FunctionDef) and f.name == name]
            if module
            else []
        )
        if len(own) != 1 or own[0] is scope.function:
            return None
        function = own[0]
        bound = {key: (value, scope) for key, value in arguments(function, node).items()}
        for line, returned in _returned(function):
            there = Scope(scope.file, function, line, (), scope.tensors, bound)
            found = self.read(returned, there)
            if found is not None:
                return found
        return None


def _returned(function: ast.FunctionDef) -> list[tuple[int, ast.expr]]:
    found = [s for s in ast.walk(function) if isinstance(s, ast.Return) and s.value is not None]
    return [(s.lineno, s.value) for s in found if s.value is not None]


def _within(node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Scope:
    """Inside of a comprehension its names are elements of what it goes through."""
    bound = dict(scope.bound)
    for part in node.generators:
        for name, value in elements(part.target, part.iter):
            bound[name] = (value, scope)
    return Scope(scope.file, scope.function, scope.line, scope.callers, scope.tensors, bound)


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """The parameters of a function with what a call gives them."""
    names = [a.arg for a in function.args.args]
    if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        names = names[1:]
    found = dict(zip(names, call.args, strict=False))
    found.update((k.arg, k.value) for k in call.keywords if k.arg)
    return found


def array_expressions(scope: Scope) -> Iterator[ast.expr]:
    """What may be the data in the statement on this line: the largest expressions without a tensor."""
    statement = statement_at(scope.file, scope.line)
    if statement is None:
        return
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
    for call in calls:
        if _last(call.func) in _TRAINS:
            named = [k.value for k in call.keywords if k.arg == "y"]
            yield from named or call.args[1:2]
            return
    todo: list[ast.AST] = [statement]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant) and _arrays(node, scope):
            yield node
        else:
            todo.extend(c for c in ast.iter_child_nodes(node) if not isinstance(c, (ast.stmt, ast.Lambda)))


def _arrays(node: ast.expr, scope: Scope) -> bool:
    """Is there nothing but arrays and numbers in this expression, as far as one can tell?"""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store) or _is_module(node):
            return False
        lines = {one.line for one in given(scope.function, node.id, scope.line)}
        return not any((scope.file, line) in scope.tensors for line in lines)
    if isinstance(node, ast.BinOp):
        return _arrays(node.left, scope) and _arrays(node.right, scope)
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load) and _arrays(node.value, scope)
    if isinstance(node, (ast.UnaryOp,)):
        return _arrays(node.operand, scope)
    if isinstance(node, ast.Call):
        known = _last(node.func) in _FUNCTIONS and isinstance(node.func, ast.Attribute)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        numpy = isinstance(owner, ast.Name) and owner.id in ("np", "numpy")
        if owner is not None and known and not numpy and _is_module(owner):
            return False
        return (
            known
            and all(_arrays(a, scope) for a in node.args[:1] if numpy)
            and (numpy or (owner is not None and _arrays(owner, scope)))
        )
    return isinstance(node, (ast.Constant, ast.Attribute))


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in (
        "np",
        "numpy",
        "tf",
        "torch",
        "keras",
        "K",
        "jnp",
        "math",
    )


def _place(node: ast.Call, scope: Scope) -> int:
    """The how-manieth call of this name in its statement."""
    statement = statement_at(scope.file, node.lineno)
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)] if statement is not None else []
    same = [(c.end_lineno, c.end_col_offset) for c in calls if _last(c.func) == _last(node.func)]
    return sum(end < (node.end_lineno, node.end_col_offset) for end in same)  # a line may have two statements


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
