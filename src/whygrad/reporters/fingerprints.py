"""What makes two findings of different runs the same one, though lines above it have come and gone."""

from __future__ import annotations

import hashlib
from array import array

from whygrad.model import Finding

_BLOCK = 100  # characters from the line's beginning on, spaces left out
_BASE = 37
_WRAP = (1 << 64) - 1
_TAB, _LF, _CR, _SPACE, _END = 9, 10, 13, 32, 65535


def line_hashes(text: str) -> list[str]:
    """One hash per line, as GitHub computes ``primaryLocationLineHash``; a repetition gets a number.

    Its upload action computes the same and complains of anything else.
    """
    letters = _letters(text)
    starts = [0, *(n + 1 for n, letter in enumerate(letters[:-1]) if letter == _LF)]
    first = pow(_BASE, _BLOCK, 1 << 64)
    padded = [*letters, *([0] * _BLOCK)]
    rolling, value = [], 0
    for n, letter in enumerate(padded):
        gone = padded[n - _BLOCK] if n >= _BLOCK else 0
        value = (value * _BASE + letter - first * gone) & _WRAP
        rolling.append(value)
    seen: dict[str, int] = {}
    found = []
    for start in starts:
        code = f"{rolling[start + _BLOCK - 1]:x}"
        seen[code] = seen.get(code, 0) + 1
        found.append(f"{code}:{seen[code]}")
    return found


def _letters(text: str) -> list[int]:
    """The text without blanks, with one kind of line end, and an end of its own."""
    found = []
    after_return = False
    for unit in array("H", text.encode("utf-16-le", "surrogatepass")):
        if unit in (_SPACE, _TAB) or (after_return and unit == _LF):
            after_return = False
            continue
        after_return = unit == _CR
        found.append(_LF if after_return else unit)
    return [*found, _END]


def cause_hash(finding: Finding, file: str) -> str:
    """The same rule, in the same function, on the same words, to the same network."""
    site = finding.site
    words = " ".join(site.code.split()) if site else ""
    parts = (finding.rule, file, site.function if site else "", words, finding.network)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
