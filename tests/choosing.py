"""Which of many tests of one kind are run by ``make test``; the others are ``long``, and run by ``make test-long``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def mostly_long(rows: Iterable[Any], kept: Callable[[Any], object]) -> list[Any]:
    """Rows for ``parametrize``; those that are not kept are long. A new row is long by itself."""
    return [row if kept(row) else _long(row) for row in rows]


def _long(row: Any) -> Any:
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.long)


def selected(request: pytest.FixtureRequest, *names: str) -> list[Any]:
    """The values of these parameters in the tests of this file that are going to be run and use this fixture.

    A fixture that prepares all of them at once, because that is quicker, prepares no more than these.
    """
    items = [item for item in request.session.items if item.path == request.path]
    mine = [item for item in items if request.fixturename in getattr(item, "fixturenames", ())]
    values = dict.fromkeys(tuple(item.callspec.params[name] for name in names) for item in mine)
    return list(values) if len(names) > 1 else [value for (value,) in values]
