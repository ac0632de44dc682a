"""A program run with other text in some of its files: names, places and line numbers stay those of the files.

A copy in another folder would not do: a program looks for its data beside ``__file__``, and a report should
name the user's own files. So the loader gives the new text under the old name; nothing is written, not even
a cache.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from io import StringIO
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from whygrad.doors import door

_texts: dict[str, bytes] = {}


def install(listing: Path) -> None:
    """From now on these files have another text: ``{"file": "where it is kept"}``."""
    named = json.loads(listing.read_text(encoding="utf-8"))
    _texts.update({os.path.realpath(file): Path(kept).read_bytes() for file, kept in named.items()})
    for file in named:
        _remember(file)
    sys.meta_path.insert(0, _Finder())
    linecache.updatecache = _updated  # whoever clears the cache, as AutoGraph does, would read the files


def text_of(file: str) -> bytes | None:
    """The new text of a file, if it has one."""
    return _texts.get(os.path.realpath(file)) if _texts else None


def _remember(file: str) -> None:
    """Whoever quotes a line (tracebacks, ``inspect``, our own reports) quotes the text that runs."""
    data = text_of(file) or b""
    lines = list(StringIO(decoded(data), newline=None))
    for name in {file, os.path.realpath(file), os.path.abspath(file)}:
        linecache.cache[name] = (len(data), None, lines, name)  # without a time it is never read anew


_before = linecache.updatecache


@door
def _updated(filename: str, module_globals: dict[str, Any] | None = None) -> list[str]:
    """The lines of a file for ``linecache``, which has none of it."""
    try:
        if text_of(filename) is not None:
            _remember(filename)
            return list(linecache.getlines(filename))
    except Exception:
        pass  # as the file has it
    return _before(filename, module_globals)


def decoded(data: bytes) -> str:
    """The text of a source file, in the encoding that it names."""
    import io
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


class _Loader(SourceFileLoader):
    """Loads a module from the text that stands in for its file."""

    def get_data(self, path: str) -> bytes:
        """The new text; everything else is read from disk."""
        return text_of(path) or super().get_data(path)

    def get_code(self, fullname: str) -> CodeType | None:
        """Compiled from the text: a cache would be that of the file, or become it."""
        path = self.get_filename(fullname)
        _remember(path)
        return self.source_to_code(self.get_data(path), path)


class _Finder(MetaPathFinder):
    """Finds what python finds, and changes the loader where the file has another text."""

    @door
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing, unless the module is one of the changed ones."""
        try:
            return _changed(fullname, path, target)
        except Exception:
            return None  # python finds the file as it is, and the change proves nothing


def _changed(fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    spec = PathFinder.find_spec(fullname, path, target)
    if spec is None or not spec.origin or text_of(spec.origin) is None:
        return None
    spec.loader = _Loader(fullname, spec.origin)
    spec.cached = None
    return spec


def listed(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write the texts down, for ``install`` in another process."""
    named = {}
    for number, (file, data) in enumerate(files.items()):
        kept = folder / f"{number}.py"
        kept.write_bytes(data)
        named[os.path.abspath(file)] = str(kept.resolve())
    listing = folder / "patched.json"
    listing.write_text(json.dumps(named), encoding="utf-8")
    return listing
