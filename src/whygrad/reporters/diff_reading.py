"""A unified diff, read back: which lines of which file are replaced by what."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Replaced:
    """``gone`` lines from ``line`` on have ``text`` in their place."""

    line: int
    gone: int
    text: str


def replaced(diff: str) -> dict[str, list[Replaced]]:
    """By file, from the first line to the last."""
    found: dict[str, list[Replaced]] = {}
    file, line, gone, text = "", 0, 0, ""

    def close() -> None:
        if gone or text:
            found.setdefault(file, []).append(Replaced(line - gone, gone, text))

    for row in [*diff.splitlines(), " "]:
        hunk = _HUNK.match(row)
        if row.startswith("-") and not row.startswith("---"):
            gone, line = gone + 1, line + 1
        elif row.startswith("+") and not row.startswith("+++"):
            text += f"{row[1:]}\n"
        elif not row.startswith("\\"):
            close()
            gone, text = 0, ""
            file = row[6:] if row.startswith("--- a/") else file
            line = int(hunk[1]) if hunk else line + 1
    return found
