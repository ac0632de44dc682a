"""Judging asks for the kind of an operation, never for its name; and this test can fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import whygrad

ROOT = Path(whygrad.__file__).parent
# Dialects turn names into words: that is what names are for.
JUDGING = sorted(
    file.relative_to(ROOT).as_posix()
    for room in ("flow", "rules")
    for file in (ROOT / room).rglob("*.py")
    if "dialects" not in file.parts
)
_SHORTENING = ("strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "lower", "casefold", "replace")
_ASKING = ("startswith", "endswith")
_LOOKING_UP = ("get", "index", "count", "pop")
_MAKING = ("frozenset", "set", "tuple", "list", "dict")
_NOT_OPERATIONS = ("alias",)  # of an import statement


class Comparisons(ast.NodeVisitor):
    """Finds where the ``name`` of something is compared with text, or is looked up in a table of text."""

    def __init__(self, module: ast.Module) -> None:
        self.lines: list[int] = []
        self._tables = {t for node in module.body for t in _assigned(node) if t.isupper() or t[:1] == "_"}
        self._tables |= {
            a.asname or a.name for n in module.body if isinstance(n, ast.ImportFrom) for a in n.names
        }
        self._names = {
            target
            for node in ast.walk(module)
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None
            for target, value in _pairs(node)
            if self._is_name(value)
        }
        self.visit(module)

    def _is_name(self, node: ast.expr) -> bool:
        """``op.name``, ``op.name.strip("_")``, or a variable that was given one of them."""
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            return node.attr == "name" and owner not in _NOT_OPERATIONS
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr in _SHORTENING and self._is_name(node.func.value)
        return isinstance(node, ast.Name) and node.id in getattr(self, "_names", ())

    def _is_text(self, node: ast.expr) -> bool:
        """Text that is written out, or a table of the module or of another one."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and bool(node.value)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return any(self._is_text(e.value if isinstance(e, ast.Starred) else e) for e in node.elts)
        if isinstance(node, ast.BinOp):
            return self._is_text(node.left) or self._is_text(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKING:
            return any(map(self._is_text, node.args))
        return isinstance(node, ast.Name) and node.id in self._tables

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        if any(map(self._is_name, sides)) and any(map(self._is_text, sides)):
            self.lines.append(node.lineno)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            owner, attribute = node.func.value, node.func.attr
            asked = attribute in _ASKING and self._is_name(owner) and any(map(self._is_text, node.args))
            found = attribute in _LOOKING_UP and self._is_text(owner) and any(map(self._is_name, node.args))
            if asked or found:
                self.lines.append(node.lineno)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if self._is_text(node.value) and self._is_name(node.slice):
            self.lines.append(node.lineno)
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        if self._is_name(node.subject):
            self.lines.append(node.lineno)
        self.generic_visit(node)


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def _pairs(node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> Iterator[tuple[str, ast.expr]]:
    """The variables of an assignment, each with what it is given."""
    value = node.value
    assert value is not None
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
            yield from ((one.id, given) for one, given in pairs if isinstance(one, ast.Name))


@pytest.mark.parametrize("file", JUDGING)
def test_nothing_is_known_by_the_name_of_an_operation(file):
    found = Comparisons(ast.parse((ROOT / file).read_text(encoding="utf-8"))).lines
    assert found == [], f"{file}: ask for op.kind (model/kinds.py) in lines {found}"


@pytest.mark.parametrize(
    "code",
    [
        'op.name == "mul"',
        'flow[i].name.strip("_") not in ("mul", "rmul")',
        'name = op.name.strip("_")\nname == "neg"',
        'name, inputs = op.name.strip("_"), op.inputs\nif name in ("add", *MORE): pass',
        '_TIMES = frozenset(("mul", "rmul"))\nuser.name in _TIMES',
        "from whygrad.flow.bootstraps import LOSSES\nop.name in LOSSES | MORE",
        'op.name.startswith("clamp")',
        '_WAYS = {"predict": 1}\n_WAYS.get(left.name, 2)',
        '_WAYS = {"predict": 1}\n_WAYS[left.name]',
        'match op.name:\n    case "mul": pass',
        '[op for n in living if (op := flow[n]).name in ("sqrt", "log")]',
    ],
)
def test_the_test_above_can_fail(code):
    assert Comparisons(ast.parse(code)).lines


@pytest.mark.parametrize(
    "code",
    [
        "op.kind is Kind.MULTIPLY",
        "old.name == new.name",
        'parameter.name.startswith(f"{name}.")',
        "few.setdefault((op.site, op.name), op)",
        'stop.op.name.strip("_") in site.code.lower()',
        'site.function in ("forward", "call")',
        "spoken(op.name, op.site.code)",
    ],
)
def test_words_and_other_names_are_left_alone(code):
    assert Comparisons(ast.parse(code)).lines == []
