"""Attaches a backend at the moment when the program has imported its framework."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from whygrad.backends.protocol import Backend, Observation, Setup
from whygrad.model import Note

#: Every framework that we know, and who watches it ("module:class"); empty: nobody yet.
FRAMEWORKS: Mapping[str, str] = {
    "torch": "whygrad.backends.torch.backend:TorchBackend",
    "tensorflow": "",
    "jax": "",
}


class Registry:
    """Waits for frameworks and keeps the backends that watch them.

    Nothing that goes wrong in a backend reaches the program: it becomes a note.
    """

    def __init__(self, setup: Setup, frameworks: Mapping[str, str] = FRAMEWORKS) -> None:
        self._setup = setup
        self._known = frameworks
        self._finder = _Finder(frameworks, self._imported)
        self._backends: dict[str, Backend] = {}
        self._notes: list[Note] = []
        self.seen: list[str] = []  # the frameworks that the program imported, in that order

    def start(self) -> None:
        """Watch imports; frameworks that are already there are attached to at once."""
        for name in self._known:
            if name in sys.modules and not _half_imported(sys.modules[name]):
                self._imported(name)
        sys.meta_path.insert(0, self._finder)

    def stop(self) -> None:
        """Detach everything and stop watching imports. Safe to call twice."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for name, backend in self._backends.items():
            self.guard(f"detach from {name}", backend.detach)

    def failed(self, error: BaseException) -> None:
        """Tell every backend of the exception that ends the program."""
        for name, backend in self._backends.items():
            self.guard(f"look at the exception with {name}", partial(backend.failed, error))

    def judged(self, updates: int) -> bool:
        """Has every backend seen ``updates`` updates of all that it watches?"""
        answers = [
            self.guard(f"count the updates of {name}", partial(backend.judged, updates))
            for name, backend in self._backends.items()
        ]
        return bool(answers) and all(answers)

    def observe(self) -> dict[str, Observation]:
        """What each backend has seen so far, by framework."""
        found = {
            name: self.guard(f"read what {name} did", backend.observe)
            for name, backend in self._backends.items()
        }
        return {name: observation for name, observation in found.items() if observation is not None}

    @property
    def notes(self) -> tuple[Note, ...]:
        """What could not be watched, and why."""
        return tuple(self._notes)

    def _imported(self, name: str) -> None:
        if name in self.seen:
            return
        self.seen.append(name)
        path = self._known[name]
        if not path:
            self._notes.append(Note(f"{name} was imported: this version of whygrad does not watch it yet"))
            return
        self.guard(f"attach to {name}", partial(self._attach, name, path))

    def _attach(self, name: str, path: str) -> None:
        module, _, factory = path.partition(":")
        backend: Backend = getattr(importlib.import_module(module), factory)()
        try:
            backend.attach(self._setup)
        except BaseException:
            backend.detach()
            raise
        self._backends[name] = backend

    def guard(self, what: str, action: Callable[[], Any]) -> Any:
        """Do it; a failure becomes a note, once."""
        try:
            return action()
        except Exception as error:
            note = Note(f"whygrad could not {what}: {brief(error)}", kind="internal")
            if note not in self._notes:
                self._notes.append(note)
            return None


def brief(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if traceback is None:
        return text
    return f"{text} ({traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno})"


def _half_imported(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


class _Finder(MetaPathFinder):
    """Finds nothing itself: it lets the others find, and wraps the loader of the frameworks we know."""

    def __init__(self, names: Iterable[str], imported: Callable[[str], None]) -> None:
        self._names = set(names)
        self._imported = imported

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._names:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(fullname, path, target)
            if spec is not None:
                return self._wrap(spec)
        return None

    def _wrap(self, spec: ModuleSpec) -> ModuleSpec:
        if spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self._executed)
        return spec

    def _executed(self, name: str) -> None:
        self._names.discard(name)
        self._imported(name)


class _Loader(Loader):
    """Loads as the real loader does, leaves the real one on the module, and then tells."""

    def __init__(self, real: Loader, executed: Callable[[str], None]) -> None:
        self._real = real
        self._executed = executed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        module.__loader__ = self._real
        self._real.exec_module(module)
        self._executed(module.__name__)
