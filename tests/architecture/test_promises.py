"""What SECURITY.md promises, as far as source can show it: no pickle is opened, no connection is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICKLES = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
CONNECTIONS = {
    "urllib.request",
    "http.client",
    "requests",
    "httpx",
    "aiohttp",
    "urllib3",
    "ftplib",
    "smtplib",
}
FORBIDDEN = PICKLES | CONNECTIONS
#: Loaders that would open a pickle unless they are told not to.
SAFELY = {"np.load": ("allow_pickle", False), "numpy.load": ("allow_pickle", False)} | {
    "torch.load": ("weights_only", True),
    "keras.saving.load_model": ("safe_mode", True),
    "keras.models.load_model": ("safe_mode", True),
}


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules that a file imports, at its top or in a function; ``from a import b`` may mean ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def unsafe_loads(tree: ast.AST) -> Iterator[str]:
    """Calls of the loaders above that leave out the word that makes them safe."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in SAFELY:
            word, value = SAFELY[name]
            given = {k.arg: k.value for k in node.keywords}.get(word)
            if not (isinstance(given, ast.Constant) and given.value is value):
                yield f"line {node.lineno}: {name} without {word}={value}"


def broken_promises(source: str) -> list[str]:
    """What a file does that it should not."""
    tree = ast.parse(source)
    names = {name for name in imported(tree) if any(f"{name}.".startswith(f"{f}.") for f in FORBIDDEN)}
    return [*sorted(names), *unsafe_loads(tree)]


def test_no_pickle_is_opened_and_no_connection_is_made():
    files = sorted((ROOT / "src" / "whygrad").rglob("*.py"))
    assert files
    found = {str(f.relative_to(ROOT)): broken_promises(f.read_text(encoding="utf-8")) for f in files}
    assert {name: broken for name, broken in found.items() if broken} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "def f():\n    from pickle import loads",
        "import urllib.request as web",
        "from urllib import request",
        "from http.client import HTTPSConnection",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "torch.load(path, weights_only=False)",
        "keras.saving.load_model(path, safe_mode=unsure)",
    ],
)
def test_the_test_above_can_fail(source):
    assert broken_promises(source)


@pytest.mark.parametrize("source", ["from urllib.parse import quote", "np.load(path, allow_pickle=False)"])
def test_and_it_lets_pass_what_is_safe(source):
    assert broken_promises(source) == []
