"""Tracebacks are python's own, to the letter."""

from __future__ import annotations

import pytest

CRASHES = {
    "plain": "def f(x):\n    return 1 / x\nf(0)",
    "chained": """
        def f():
            try:
                {}["a"]
            except KeyError as error:
                raise ValueError("b") from error
        try:
            f()
        except ValueError:
            f()
    """,
    "group": """
        def f(x): return 1 / x
        errors = []
        for x in (0, "a"):
            try: f(x)
            except Exception as error: errors.append(error)
        raise ExceptionGroup("several", [*errors, ExceptionGroup("inner", errors[:1])])
    """,
    "notes": "e = ValueError('x')\ne.add_note('a note')\nraise e",
    "syntax": "def f(:\n    pass",
    "indentation": "if True:\nprint(1)",
    "bad bytes": "x = '\\udcff'.encode('utf-8')",
    "syntax of an import": "import broken",
    "missing module": "import does_not_exist",
    "through the library": "import json\njson.loads('{')",
    "hook": """
        import sys
        sys.excepthook = lambda kind, value, tb: print("hook:", kind, value, tb.tb_lineno, tb.tb_next)
        1 / 0
    """,
    "hook that fails": """
        import sys
        def hook(kind, value, tb): raise RuntimeError("in the hook")
        sys.excepthook = hook
        1 / 0
    """,
    "hook that exits": """
        import sys
        sys.excepthook = lambda *_: sys.exit(7)
        1 / 0
    """,
    "last exception": """
        import atexit, sys, traceback
        atexit.register(lambda: print(traceback.format_tb(sys.last_traceback), sys.last_type, sys.last_value))
        1 / 0
    """,
    "base exception": "class Odd(BaseException): pass\nraise Odd('x')",
    "keyboard interrupt": "def f(): raise KeyboardInterrupt\nf()",
    "unprintable": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
    "recursive context": """
        a, b = ValueError("a"), ValueError("b")
        a.__cause__, b.__cause__ = b, a
        raise a
    """,
    "exec": "exec(compile('1 / 0', 'elsewhere.py', 'exec'))",
    "generator": "def g():\n    yield 1 / 0\nlist(g())",
}


@pytest.mark.parametrize("name", CRASHES)
def test_crash(lab, same, name):
    lab.write("x = (\n", "broken.py")
    done = same(CRASHES[name])
    assert done.code != 0


def test_crash_in_a_file_that_is_not_text(lab):
    (lab.folder / "train.py").write_bytes(b"# coding: utf-8\nx = '\xff'\n")
    assert lab.same("train.py").code == 1


def test_latin_1_source(lab):
    (lab.folder / "train.py").write_bytes(b"# coding: latin-1\nprint(ascii('\xe4'))\n")
    assert lab.same("train.py").code == 0


def test_a_failing_import_of_a_framework_shows_no_frame_of_ours(lab):
    lab.write("def load():\n    raise RuntimeError('libtorch is broken')\nload()\n", "torch/__init__.py")
    lab.write("import torch\n")
    assert "libtorch is broken" in lab.same("train.py").stderr
    lab.write("raise ImportError('libtorch is missing')\n", "torch/__init__.py")
    assert "libtorch is missing" in lab.same("train.py").stderr
