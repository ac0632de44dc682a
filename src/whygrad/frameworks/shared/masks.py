"""Masks of data: which numbers may be in one?"""

from __future__ import annotations

MOST = 65536  # elements of a mask that is looked at
_USUAL = ((0.0, 1.0), (-1.0, 1.0), (-1.0, 0.0))


def may_be_inverted(low: float, high: float) -> bool:
    """Two whole numbers that are not those of a mask or a sign: ``~done``, made by numpy."""
    if not abs(low) < 1e6 > abs(high) or low != int(low) or high != int(high) or low == high:
        return False
    return (low, high) not in _USUAL
