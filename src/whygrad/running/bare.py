"""The program without us: for when our own beginning has failed. Nothing is shared with the watched way."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
from collections.abc import Sequence
from types import ModuleType

#: Whether a line of the program may have run: from then on an exception is its own.
begun: list[bool] = []


def execute(target: str, args: Sequence[str], is_module: bool) -> None:
    """Run it as python would. Whatever it raises comes out."""
    begun.append(True)
    python = sys.orig_argv[:1]
    if is_module:
        sys.argv, sys.orig_argv = ["-m", *args], [*python, "-m", target, *args]
        if not sys.flags.safe_path:
            sys.path[0] = os.getcwd()
        runpy._run_module_as_main(target)  # type: ignore[attr-defined]
        return
    sys.argv, sys.orig_argv = [target, *args], [*python, target, *args]
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(target))
    main = sys.modules["__main__"] = ModuleType("__main__")
    file = os.path.join(os.getcwd(), target)
    vars(main).update(__file__=file, __builtins__=builtins, __annotations__={}, __cached__=None)
    with open(file, "rb") as source:
        text = source.read()
    exec(compile(text, file, "exec", dont_inherit=True), vars(main))
