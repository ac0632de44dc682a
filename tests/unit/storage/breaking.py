"""Breaks evidence in the many ways in which files break, and in some in which a stranger would break them.

python -m tests.unit.storage.breaking 10000 [SEED]
"""

from __future__ import annotations

import random
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from tests.unit.storage.samples import Everything, actor_critic, nothing_seen

from whygrad.cli.run_directories import NotARun, judged
from whygrad.model import source
from whygrad.reporters import html_report, json_report, sarif, terminal
from whygrad.storage.packing import pack

MAGIC = b"whygrad evidence 2\n"


def originals() -> list[bytes]:
    """Files that can be read."""
    recordings = (actor_critic(), actor_critic(cut=False), Everything().recording(), nothing_seen())
    found = []
    for recording in recordings:
        with source.reading(source.Texts(recording.sources)):
            found.append(pack(recording))
    return found


def broken(rng: random.Random, files: list[bytes]) -> bytes:
    """One of them, damaged: on the disk, before it was compressed, or in what it says."""
    one, other = rng.choice(files), rng.choice(files)
    how = rng.randrange(4)
    if how == 0:
        return _damaged(rng, one, other)
    inside, more = _inside(one), _inside(other)
    if how == 1:
        return _sealed(_damaged(rng, inside, more))
    plain = msgspec.msgpack.decode(inside)
    for _ in range(rng.choice((1, 1, 2, 5))):
        _lie(rng, plain)
    return _sealed(msgspec.msgpack.encode(plain))


def _inside(data: bytes) -> bytes:
    return zlib.decompress(data.removeprefix(MAGIC))


def _sealed(data: bytes) -> bytes:
    return MAGIC + zlib.compress(data, 1)


def _damaged(rng: random.Random, data: bytes, other: bytes) -> bytes:
    kind, found = rng.randrange(5), bytearray(data)
    start, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    if kind == 0:
        return data[:start]
    if kind == 1:
        for _ in range(rng.choice((1, 1, 3, 20))):
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        found[start:end] = other[start:end]
    elif kind == 3:
        found = found[:start] + bytearray(other[rng.randrange(len(other)) :])
    else:
        found[start:start] = rng.randbytes(rng.randrange(1, 40))
    return bytes(found)


def _lie(rng: random.Random, plain: Any) -> None:
    """Say something else in one place."""
    holder, key = rng.choice(list(_places(plain)))
    value = holder[key]
    kind = rng.randrange(6)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = rng.choice(
            (0, 1, -1, value + 1, value - 1, rng.randrange(40), 2**63 - 1, -(2**63), "one", 1.5)
        )
    elif isinstance(value, float):
        holder[key] = rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e308, None, "half"))
    elif isinstance(value, str):
        holder[key] = rng.choice(
            ("", "\x00", "🦆" * 9, "x" * 5000, "../../etc/passwd", "((" * 3000, "-" * 9000, 7)
        )
    elif isinstance(value, list):
        holder[key] = rng.choice((value * 3, value[::-1], value[:1], [], [value], None))
    elif isinstance(value, dict):
        holder[key] = rng.choice(({}, None, [], {5: value}, {**value, "more": 1}))


def _places(plain: Any) -> Iterator[tuple[Any, Any]]:
    todo = [plain]
    while todo:
        holder = todo.pop()
        items = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in list(items):
            yield holder, key
            if isinstance(value, (dict, list)):
                todo.append(value)


def outcome(path: Path, data: bytes) -> str:
    """The sentence that a file gives; empty if it can be judged and shown."""
    path.write_bytes(data)
    try:
        stored = judged(str(path))
    except NotARun as error:
        sentence = str(error)
        assert sentence.startswith(str(path)) and "\n" not in sentence, sentence
        return sentence
    with stored.reading():
        shown: tuple[Callable[..., str], ...] = (terminal.render, json_report.render, html_report.render)
        for render in shown:
            render(stored.run)
        sarif.render(stored.run, str(path.parent))
    return ""


def break_many(many: int, folder: Path, seed: int = 0) -> int:
    """So many files; how many of them could still be judged."""
    rng, files = random.Random(seed), originals()
    assert outcome(folder / "evidence.wg", files[0]) == ""
    return sum(not outcome(folder / "evidence.wg", broken(rng, files)) for _ in range(many))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        many = int(sys.argv[1])
        fine = break_many(many, Path(scratch), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
        print(f"{many} files: {many - fine} sentences, {fine} could still be judged")
