"""A recording as bytes, and back: a line that says what it is, then msgpack, compressed.

Nothing in such a file is executed when it is read, and whatever is wrong with it is one sentence.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import msgspec

from whygrad import __version__
from whygrad.model import Backward, Op, Recording, Site, source
from whygrad.storage import limits
from whygrad.storage.checks import check
from whygrad.storage.schema import twin
from whygrad.storage.tables import Table, Tables

_MAGIC, VERSION = b"whygrad evidence ", 2
_SHARED = (("sites", Site), ("ops", Op), ("backwards", Backward))


class Broken(ValueError):
    """Why this cannot be read as evidence, to follow the name of the file."""


def _payload() -> Any:
    length = msgspec.Meta(max_length=limits.ROWS)
    tables = [(name, Annotated[list[twin(kind).type], length]) for name, kind in _SHARED]  # type: ignore[misc]
    return msgspec.defstruct("Payload", [*tables, ("recording", twin(Recording).type)], gc=False)


def pack(recording: Recording, named: Callable[[str], str] = str, with_source: bool = True) -> bytes:
    """The bytes of a file. ``named`` gives files the names that they have in it."""
    tables = Tables()
    files: dict[str, None] = {}

    def place(site: Site) -> Any:
        files[site.file] = None
        code = site.code if with_source else ""
        return _packed(Site, tables, replace(site, file=named(site.file), code=code))

    tables.growing[Site] = Table(lambda site: site, place)
    for kind in (Op, Backward):
        tables.growing[kind] = Table(id, partial(_packed, kind, tables))
    body = _packed(Recording, tables, replace(recording, sources={}, whygrad=__version__))
    if with_source:
        body.sources = _texts(files, named)
    rows = [tables.growing[kind].rows for _, kind in _SHARED]
    if max(map(len, rows)) > limits.ROWS:
        raise Broken(f"more than {limits.ROWS:,} operations are more than can be read")
    return _sealed(_encoded(_PAYLOAD(*rows, body)))


def unpack(data: bytes) -> Recording:
    """The recording in these bytes; raises ``Broken`` for all others."""
    try:
        payload = msgspec.msgpack.decode(_opened(data), type=_PAYLOAD)
        tables = Tables()
        for name, kind in _SHARED:
            tables.known[kind] = [_unpacked(kind, tables, row) for row in getattr(payload, name)]
        recording: Recording = _unpacked(Recording, tables, payload.recording)
        check(recording)
    except Broken:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError, MemoryError) as error:
        raise Broken(f"is damaged: {' '.join(str(error).split()) or type(error).__name__}") from error
    return recording


def _encoded(payload: Any) -> bytes:
    try:
        return msgspec.msgpack.encode(payload, enc_hook=_plain)
    except UnicodeEncodeError:  # an argument or a message that is no text
        plain = msgspec.to_builtins(payload, builtin_types=(bytes,), enc_hook=_plain)
        return msgspec.msgpack.encode(_writable(plain))


def _writable(plain: Any) -> Any:
    if isinstance(plain, str):
        return plain.encode("utf-8", "backslashreplace").decode()
    if isinstance(plain, dict):
        return {_writable(key): _writable(value) for key, value in plain.items()}
    return (
        [_writable(value) for value in plain] if isinstance(plain, (list, tuple, set, frozenset)) else plain
    )


def _sealed(data: bytes) -> bytes:
    found = b"%s%d\n" % (_MAGIC, VERSION) + zlib.compress(data, 6)
    if len(data) > limits.UNPACKED or len(found) > limits.FILE:
        raise Broken(f"{len(data) >> 20} MB of evidence are more than can be read")
    return found


def _opened(data: bytes) -> bytes:
    """What was sealed, if it is ours, whole, and no larger than it may be. The checksum is zlib's."""
    head = data[:64].partition(b"\n")[0]
    if not head.startswith(_MAGIC):
        raise Broken("is no evidence of whygrad")
    if head != b"%s%d" % (_MAGIC, VERSION):
        written = head[len(_MAGIC) :].decode("ascii", "replace")
        raise Broken(f"has format {written!r}, and this version of whygrad reads format {VERSION}")
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(memoryview(data)[len(head) + 1 :], limits.UNPACKED)
    except zlib.error as error:
        raise Broken(f"is damaged: {error}") from error
    if not stream.eof:
        larger = len(found) == limits.UNPACKED
        raise Broken(f"has more than {limits.UNPACKED >> 20} MB in it" if larger else "is not complete")
    if stream.unused_data:
        raise Broken("is damaged: something follows its end")
    return found


def _packed(kind: Any, tables: Tables, value: Any) -> Any:
    return twin(kind).pack(value, tables)  # type: ignore[misc]


def _unpacked(kind: Any, tables: Tables, value: Any) -> Any:
    return twin(kind).unpack(value, tables)  # type: ignore[misc]


def _texts(files: Iterable[str], named: Callable[[str], str]) -> dict[str, str]:
    """The text of each file as far as there is room, by the name that it has in the recording."""
    found: dict[str, str] = {}
    left = limits.SOURCE
    for file in sorted(files, key=_installed):
        text = "".join(source.lines(file))
        if text and len(text) <= left:
            found[named(file)] = text
            left -= len(text)
    return found


def _installed(file: str) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(file.split(os.sep))


def _plain(value: Any) -> Any:
    """A number or a text of a framework's own class, as what it is."""
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    item = getattr(value, "item", None)
    if item is not None:
        return item()
    raise TypeError(f"a {type(value).__name__} cannot be kept")


_PAYLOAD = _payload()
