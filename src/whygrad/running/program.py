"""The user's program, run the way python would run it."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

from whygrad.running import bare, patched

_SHELL = "{0!r} is a shell script: `whygrad run -- sh {0}` watches the python programs that it starts"
_NOTEBOOK = "{0!r} is a notebook: write `with whygrad.watching():` in the cell that trains"
#: Files that are easily named in place of a script.
_NO_PYTHON = {".sh": _SHELL, ".bash": _SHELL, ".zsh": _SHELL, ".ipynb": _NOTEBOOK}


class CannotRun(Exception):
    """The program cannot even be started; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Program:
    """A script, or a module (``-m``), and the arguments that belong to it."""

    target: str
    args: tuple[str, ...] = ()
    is_module: bool = False

    @property
    def label(self) -> str:
        """What the user calls it."""
        return self.target

    @property
    def stem(self) -> str:
        """A short name, good for a directory; a launcher that is a module is called by its script."""
        scripts = [word for word in self.args if word.endswith(".py")] if self.is_module else [self.target]
        if not scripts:
            return self.target.removesuffix(".__main__").rpartition(".")[2]
        return os.path.splitext(os.path.basename(scripts[0]))[0]

    @property
    def file(self) -> str:
        """``__file__`` as python sets it: absolute, but not tidied up."""
        return os.path.join(os.getcwd(), self.target)

    @property
    def folder(self) -> str:
        """Where its own modules are: ``sys.path[0]`` as python sets it."""
        return os.getcwd() if self.is_module else os.path.dirname(os.path.realpath(self.target))

    def check(self) -> None:
        """Raise ``CannotRun`` for what python could not open either."""
        if self.is_module:
            return
        if not os.path.exists(self.target):
            raise CannotRun(f"there is no file {self.target!r}")
        if os.path.isdir(self.target):
            raise CannotRun(f"{self.target!r} is a directory: name the script in it that trains")
        if not os.access(self.target, os.R_OK):
            raise CannotRun(f"{self.target!r} cannot be read: permission denied")
        hint = _NO_PYTHON.get(os.path.splitext(self.target)[1].lower())
        if hint:
            raise CannotRun(hint.format(self.target))

    def prepare(self) -> Stage:
        """Set the stage: ``__main__``, ``sys.argv``, ``sys.path[0]``, as python has them at this point."""
        stage = Stage(ModuleType("__main__"), sys.modules["__main__"])
        main = stage.main
        vars(main)["__builtins__"] = builtins
        if sys.version_info < (3, 14):
            vars(main)["__annotations__"] = {}
        python = sys.orig_argv[:1]
        if self.is_module:
            sys.argv = ["-m", *self.args]
            sys.orig_argv = [*python, "-m", self.target, *self.args]
        else:
            sys.argv = [self.target, *self.args]
            sys.orig_argv = [*python, *sys.argv]
            vars(main).update(
                __file__=self.file, __cached__=None, __loader__=SourceFileLoader("__main__", self.file)
            )
        if not sys.flags.safe_path:
            sys.path[0] = self.folder
        sys.modules["__main__"] = main
        return stage

    def run(self, stage: Stage) -> None:
        """Run it to its end. Whatever it raises comes out."""
        bare.begun.append(True)
        if self.is_module:
            # The very function that `python -m` calls, so that even the traceback is the same.
            runpy._run_module_as_main(self.target)  # type: ignore[attr-defined]
            return
        name = stage.main.__file__ or self.target
        text = patched.text_of(name)
        if text is None:
            with open(name, "rb") as source:
                text = source.read()
        exec(compile(text, name, "exec", dont_inherit=True), vars(stage.main))


@dataclass(frozen=True, slots=True)
class Stage:
    """The program's ``__main__``, and the one that was there before; both are kept alive."""

    main: ModuleType
    before: ModuleType

    def namespace(self) -> Mapping[str, Any]:
        """The program's global names."""
        return vars(self.main)
