"""Breaks the files of strangers in the ways in which files break, and in those in which somebody breaks them.

    python -m tests.strangers.fuzzing MANY [SEED]

Each verb that reads such files is called in this process. Whatever stands in them, it gives an exit code, and
with 2 one sentence; in bounded time and memory; nothing outside of the folder is read or written; and what is
printed steers no terminal.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.strangers import samples

from whygrad.cli import compare, convert, judge, report, runs, summarize
from whygrad.zoo.parity import vectors
from whygrad.zoo.tfjs.network import ModelError

SECRET = "the-secret-of-somebody-else"
SLOW = 20.0  # seconds of the processor that one input may take: an endless file takes for ever
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVIL = (
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe",
    "a\nb",
    "\r",
    "\ud800",
    "x" * 9000,
    "../../secret",
    "/dev/zero",
    "",
)
NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**63), 10**400, 1e308, float("nan"), float("inf"), 0.5)


@dataclass(frozen=True)
class Target:
    """One kind of thing that a stranger sends, and the verb that reads it."""

    name: str
    make: Callable[[Path], None]
    verb: Callable[[Path, Path], int]  # the folder, and where it may write
    parts: tuple[str, ...]  # the files that are broken


def _parity(folder: Path, out: Path) -> int:
    """Reading the vectors; to compare them is no matter of strangers' files."""
    try:
        vectors.read(folder)
    except (ModelError, OSError) as error:
        print(f"whygrad: {error}".replace("\n", " "), file=sys.stderr)
        return 2
    return 0


TARGETS = (
    Target("judge", samples.run_directory, lambda f, o: judge.main([str(f)]), ("evidence.wg",)),
    Target(
        "report",
        samples.run_of_before,
        lambda f, o: report.main([str(f)]),
        ("report.json", "watch.history", samples.EVENTS, "fixes.json"),
    ),
    Target(
        "report (evidence)",
        samples.run_directory,
        lambda f, o: report.main([str(f)]),
        ("evidence.wg", "report.json"),
    ),
    Target("runs", samples.runs, lambda f, o: runs.main([str(f)]), ("one/report.json", "two/report.json")),
    Target(
        "compare",
        samples.runs_of_before,
        lambda f, o: compare.main([str(f / "one"), str(f / "two"), "--html", str(o / "page.html")]),
        ("one/report.json", "two/watch.history", "one/" + samples.EVENTS),
    ),
    Target("summarize", samples.run_directory, lambda f, o: summarize.main([str(f)]), (samples.EVENTS,)),
    Target(
        "convert",
        samples.model,
        lambda f, o: convert.main([str(f), "--to", "tfjs", str(o / "model")]),
        ("model.json", "weights.bin"),
    ),
    Target(
        "parity",
        samples.vectors,
        _parity,
        ("vectors.json", "batch.json", "online/model.json", "target/weights.bin"),
    ),
)


@dataclass
class Tally:
    """What came of them."""

    inputs: Counter[str] = field(default_factory=Counter)
    codes: Counter[tuple[str, int]] = field(default_factory=Counter)
    troubles: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0


def fuzz(many: int, scratch: Path, seed: int = 0) -> Tally:
    """So many inputs, shared among the targets."""
    tally = Tally()
    for number, target in enumerate(TARGETS):
        rng = random.Random(f"{seed} {target.name}")
        whole, broken, out = (scratch / target.name / name for name in ("whole", "broken", "out"))
        target.make(whole)
        (scratch / target.name / "secret").write_text(SECRET)
        before = _listing(scratch / target.name)
        for _ in range(many // len(TARGETS) + (number < many % len(TARGETS))):
            _fresh(whole, broken, out)
            what = _break(rng, broken, target.parts)
            trouble = _tried(target, broken, out, tally)
            tally.inputs[target.name] += 1
            if _listing(scratch / target.name) != before:
                trouble = "something outside of the folder was changed"
                (scratch / target.name / "secret").write_text(SECRET)
            if trouble:
                tally.troubles[f"{target.name} ({what}): {trouble}"] += 1
    return tally


def _fresh(whole: Path, broken: Path, out: Path) -> None:
    for folder in (broken, out):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, broken)
    out.mkdir()


def _listing(folder: Path) -> dict[str, str]:
    """What is beside the two folders that may change."""
    return {p.name: p.read_text() for p in folder.iterdir() if p.is_file() and not p.is_symlink()}


def _tried(target: Target, folder: Path, out: Path, tally: Tally) -> str:
    """What went wrong; nothing if nothing did."""
    printed, said, code, began = io.StringIO(), io.StringIO(), 0, time.thread_time()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            code = target.verb(folder, out)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException as error:
        (*_, last) = traceback.extract_tb(error.__traceback__)
        return f"{type(error).__name__}: {str(error)[:80]} ({Path(last.filename).name}:{last.lineno})"
    tally.codes[target.name, code] += 1
    tally.longest = max(tally.longest, time.thread_time() - began)
    return _complaint(code, printed.getvalue(), said.getvalue(), time.thread_time() - began, out, folder)


def _complaint(code: int, printed: str, said: str, seconds: float, out: Path, folder: Path) -> str:
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if code == 2 and (said.count("\n") != 1 or not said.startswith("whygrad: ")):
        return f"not one sentence: {said[:80]!r}"
    if found := STEERING.search(printed + said):
        return f"prints {found[0]!r}"
    if seconds > SLOW:
        return f"{seconds:.0f} seconds"
    pages = [*out.glob("*.html"), folder / "report.html"]
    if any(
        SECRET in page.read_text(errors="replace")
        for page in pages
        if page.is_file() and not page.is_symlink()
    ):
        return "shows a file from outside"
    return ""


# -- ways to break a file --------------------------------------------------------------------------


def _break(rng: random.Random, folder: Path, parts: tuple[str, ...]) -> str:
    file = folder / rng.choice(parts)
    if rng.random() < 0.04:
        return _replaced(rng, file)
    data = file.read_bytes()
    if file.suffix == ".json" and rng.random() < 0.8:
        plain = json.loads(data)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            _lie(rng, plain)
        text = json.dumps(plain)
        if rng.random() < 0.05:
            text = _twisted(rng, text)
        file.write_text(text)
        return f"{file.name} lies"
    file.write_bytes(damaged(rng, data))
    return f"{file.name} is damaged"


def _replaced(rng: random.Random, file: Path) -> str:
    """By something that is no file, or leads elsewhere."""
    file.unlink()
    how = rng.choice(("fifo", "zero", "outside", "circle", "folder", "sparse", "empty", "gone", "inside"))
    if how == "fifo":
        os.mkfifo(file)
    elif how == "folder":
        file.mkdir()
    elif how == "sparse":
        with open(file, "wb") as opened:
            opened.truncate(10 << 40)
    elif how == "empty":
        file.touch()
    elif how != "gone":
        to = {
            "zero": "/dev/zero",
            "outside": "../" * len(file.parts) + str(_secret(file))[1:],
            "circle": file.name,
        }
        file.symlink_to(to.get(how, "other"))
        if how == "inside":
            (file.parent / "other").write_text("{}")
    if rng.random() < 0.5:  # and where something is going to be written
        (file.parent / "report.html").symlink_to(_secret(file))
    return f"{file.name} is {how}"


def _secret(file: Path) -> Path:
    folder = file.parent
    while folder.name != "broken":
        folder = folder.parent
    return folder.parent / "secret"


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Cut, flipped, doubled, with a huge length, with rubbish."""
    found, kind = bytearray(data), rng.randrange(6)
    start, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    if kind == 0:
        return data[:start]
    if kind == 1:
        for _ in range(rng.choice((1, 1, 3, 20))):
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        found[start:start] = found[start:end]
    elif kind == 3:
        found[start : start + 8] = rng.choice((b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x00" * 8))
    elif kind == 4:
        found[start:start] = rng.choice((b"\x80" * 400_000 + b"\x01", b"[" * 100_000, b'{"a":' * 50_000))
    else:
        found[start:start] = rng.randbytes(rng.randrange(1, 40))
    return bytes(found)


def _twisted(rng: random.Random, text: str) -> str:
    """What no dict can hold: a key twice, nesting, numbers of many digits."""
    return rng.choice(
        (
            text.replace("{", '{"format": 1, "format": 2, ', 1),
            text.replace("[]", "[" * 100_000 + "]" * 100_000, 1),
            text.replace("null", "[" * 900 + "]" * 900),
            text.replace(": 1", ": " + "9" * 5000, 1),
            text.replace("{", '{"__proto__": {"toString": 1}, ', 1),
        )
    )


def _lie(rng: random.Random, plain: Any) -> None:
    """Say something else in one place."""
    places = list(_places(plain))
    if not places:
        return
    holder, key = rng.choice(places)
    value, kind = holder[key], rng.randrange(7)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1:
        holder[key] = rng.choice((None, [], {}, True, "", 0, [[]], {"a": {}}, ["x"] * 9))
    elif kind == 2 and isinstance(holder, dict):
        holder[rng.choice(EVIL)] = holder.pop(key)
    elif isinstance(value, str):
        holder[key] = rng.choice((*EVIL, value + "\x1b[31m", str(_OUTSIDE), 7))
    elif isinstance(value, (int, float)):
        holder[key] = rng.choice((*NUMBERS, str(value), -value, value + 1))
    elif isinstance(value, list):
        holder[key] = rng.choice((value * 3, value[::-1], value[:1], [value], [*value, None]))
    else:
        holder[key] = rng.choice((value, [value], {"more": value}, 3, "text"))


_OUTSIDE = Path(tempfile.gettempdir()) / "secret"


def _places(plain: Any) -> Iterator[tuple[Any, Any]]:
    todo, many = [plain], 0
    while todo:
        holder = todo.pop()
        for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            many += 1
            if many < 3000:
                yield holder, key
            if isinstance(value, (dict, list)) and value:
                todo.append(value)


def main(many: int, seed: int = 0) -> int:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as scratch:
        tally = fuzz(many, Path(scratch), seed)
    for name, count in tally.inputs.items():
        codes = ", ".join(f"{n:,} with {c}" for (t, c), n in sorted(tally.codes.items()) if t == name)
        print(f"{name:10} {count:8,} inputs: exit code {codes}")
    print(f"longest: {tally.longest:.2f} s")
    for trouble, count in tally.troubles.most_common():
        print(f"TROUBLE {count:6} {trouble}")
    print(f"{sum(tally.inputs.values()):,} inputs, {sum(tally.troubles.values()):,} troubles")
    return int(bool(tally.troubles))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
