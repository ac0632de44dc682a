"""Reading a model's folder and nothing else: no path leads out of it, no file is opened that is not plain."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from whygrad import strangers
from whygrad.zoo.tfjs.network import ModelError

_LARGEST = 4 << 30  # bytes of one file


class Folder:
    """The folder of one model.json."""

    def __init__(self, path: Path):
        self.path = path

    def size(self, name: object) -> int:
        """How many bytes a file of the manifest has, without reading it."""
        with self._open(name) as file:
            return os.fstat(file.fileno()).st_size

    def read(self, name: object, size: int) -> bytes:
        """Exactly so many bytes, which is what was counted before."""
        with self._open(name) as file:
            data = file.read(size + 1)
        if len(data) != size:
            raise ModelError(f"{name!r} changed while it was read")
        return data

    @contextmanager
    def _open(self, name: object) -> Iterator[BinaryIO]:
        path = self.path / plain(name)
        try:
            with strangers.opened(path, _LARGEST, self.path) as file:
                yield file
        except strangers.Refused as error:
            raise ModelError(str(error)) from None
        except OSError as error:
            raise ModelError(f"{name!r} cannot be read: {error.strerror or error}") from None


def plain(name: object) -> str:
    """The name, if it is a simple relative path, the same on every system."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"the manifest names a file that is no name: {str(name)[:60]!r}")
    shown = name[:60]
    if "\0" in name or not name.isprintable() or len(name) > 1000:
        raise ModelError(f"the manifest names a file with unprintable characters: {shown!r}")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", name):
        raise ModelError(f"{shown!r} is an address or a drive; only files in the model's folder are read")
    if "\\" in name or name.startswith("/"):
        raise ModelError(f"{shown!r} is not a path inside the model's folder")
    if any(part in ("", ".", "..") for part in name.split("/")):
        raise ModelError(f"{shown!r} is not a plain path inside the model's folder")
    return name
