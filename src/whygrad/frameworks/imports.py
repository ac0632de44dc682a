"""Be told when a module has been imported."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from whygrad.doors import door


class Waiting(MetaPathFinder):
    """Finds nothing itself: it lets the others find, and wraps the loader of the modules it waits for."""

    def __init__(
        self,
        names: set[str],
        imported: Callable[[str], None],
        failed: Callable[[str, Exception], None] = lambda name, error: None,
    ) -> None:
        self._names = names
        self._imported = imported
        self._failed = failed
        self._asking = threading.local()  # two who wait would ask each other for ever

    def start(self) -> None:
        """Watch imports."""
        sys.meta_path.insert(0, self)

    def cancel(self) -> None:
        """Stop watching. Safe to call twice."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    @door
    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Called by Python for every import."""
        if fullname not in self._names or getattr(self._asking, "name", "") == fullname:
            return None
        self._asking.name = fullname
        try:
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None)
                spec = None if finder is self or find is None else find(fullname, path, target)
                if spec is not None:
                    try:
                        return self._wrap(spec)
                    except Exception as error:
                        self._failed(fullname, error)
                        return spec
        finally:
            self._asking.name = ""
        return None

    def _wrap(self, spec: ModuleSpec) -> ModuleSpec:
        if spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self._executed, self._failed)
        return spec

    def _executed(self, name: str) -> None:
        self._names.discard(name)
        self._imported(name)


def half_imported(module: ModuleType) -> bool:
    """Is it still being executed?"""
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


class _Loader(Loader):
    """Loads as the real loader does, leaves the real one on the module, and then tells."""

    def __init__(
        self, real: Loader, executed: Callable[[str], None], failed: Callable[[str, Exception], None]
    ) -> None:
        self._real = real
        self._executed, self._failed = executed, failed

    @door
    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @door
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    @door
    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        module.__loader__ = self._real
        self._real.exec_module(module)
        try:
            self._executed(module.__name__)
        except Exception as error:
            self._failed(module.__name__, error)
