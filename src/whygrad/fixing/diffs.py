"""Changes as unified diffs, as ``git apply`` and people read them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from whygrad.running.patched import decoded


def unified(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """All files that differ, in the order of their names."""
    return "".join(_of_file(name, before[name], after[name]) for name in sorted(after))


def _of_file(name: str, before: bytes, after: bytes) -> str:
    old, new = (decoded(data).removeprefix("\ufeff") for data in (before, after))
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{_plain(name)}", f"b/{_plain(name)}")
    return "".join(_ended(line) for line in lines)


def _lines(text: str) -> list[str]:
    """With their ends; only real ones count."""
    return text.replace("\r\n", "\n").replace("\r", "\n").splitlines(keepends=True) if text else []


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/")


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
