"""Colour, inline code and wrapping for the terminal: all that whygrad needs of a text library."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "good": "1;32",
    "bold": "1",
    "dim": "2",
    "code": "36",
    "cut": "31",
}
_CODE_SPAN = re.compile(r"`([^`]+)`")
_KEPT_SPACE = "\x1f"


@dataclass(frozen=True, slots=True)
class Style:
    """Paints text, or leaves it as it is."""

    color: bool = False

    def paint(self, role: str, text: str) -> str:
        """The text in the colour of a role: ``error``, ``dim``, ``code``, ..."""
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.color and text else text

    def inline(self, text: str) -> str:
        """A sentence with its `code` painted; without colour the backticks stay."""
        return _CODE_SPAN.sub(lambda m: self.paint("code", m[1]), text) if self.color else text


def wrap(text: str, width: int, hanging: str = "") -> list[str]:
    """The lines of a sentence; `code` is kept on one line wherever it fits on one.

    ``hanging`` goes in front of all lines but the first.
    """

    def keep(span: re.Match[str]) -> str:
        return span[0].replace(" ", _KEPT_SPACE) if len(span[0]) <= width - len(hanging) else span[0]

    text, width = _CODE_SPAN.sub(keep, text), max(width, 20)
    lines = textwrap.wrap(text, width, subsequent_indent=hanging, break_on_hyphens=False)
    return [line.replace(_KEPT_SPACE, " ") for line in lines] or [""]


def fit(text: str, width: int) -> str:
    """The text on one line, shortened at its end where it is too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: max(width - 3, 1)].rstrip() + "..."
