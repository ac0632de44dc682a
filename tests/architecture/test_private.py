"""What a framework keeps to itself is named in one file for each, so that a new version is met in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import whygrad

ROOT = Path(whygrad.__file__).parent / "frameworks"
FILES = sorted(path for path in ROOT.rglob("*.py") if path.name != "private.py")
FRAMEWORKS = ("torch", "tf", "tensorflow", "keras")


def private_names(tree: ast.AST) -> Iterator[str]:
    """``torch._C``, ``from torch.utils import _device``, ``import tensorflow.python``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            first, *rest = name.split(".")
            hidden = any(part.startswith("_") and not part.endswith("__") for part in rest)
            if first in FRAMEWORKS and (hidden or rest[:1] == ["python"]):
                yield f"line {node.lineno}: {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_private_names_stand_in_one_file(path: Path):
    assert list(private_names(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_a_private_name_is_found():
    text = (
        "import torch\nfrom torch.utils import _device\nimport tensorflow.python.ops\ntorch._C.f(torch.cat)\n"
    )
    assert {found.partition(": ")[2] for found in private_names(ast.parse(text))} == {
        "torch.utils._device",
        "tensorflow.python.ops",
        "torch._C.f",
        "torch._C",
    }
