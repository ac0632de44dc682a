"""A run that a file tells of is what its annotations say, in every part, or it is not believed."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from whygrad import strangers

_FIELDS = "__dataclass_fields__"
_MOST = 2**63  # no number of a run is larger

_T = TypeVar("_T")


def believed(value: _T) -> _T:
    """The same, with texts that can be printed; raises ``ValueError`` for a part that is of another type."""
    found: _T = _checked(type(value), value, type(value).__name__)
    return found


@cache
def _hints(kind: Any) -> tuple[tuple[str, Any], ...]:
    told = get_type_hints(kind)
    return tuple((field.name, told[field.name]) for field in fields(kind))


def _checked(kind: Any, value: Any, where: str) -> Any:
    if type(value) is kind and hasattr(kind, _FIELDS):
        told = _hints(kind)  # type: ignore[arg-type, unused-ignore]
        parts = {name: _checked(hint, getattr(value, name), name) for name, hint in told}
        return kind(**parts)
    origin, parts_of = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(parts_of, value, where)
    if origin is tuple and type(value) is tuple:
        return _members(parts_of, value, where)
    if _fits(kind, value):
        return strangers.text(value) if type(value) is str else value
    raise ValueError(f"{where!r} in it is {_named(value)}, not {getattr(kind, '__name__', kind)}")


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    (kind, *_) = [one for one in kinds if one is not NoneType]
    return _checked(kind, value, where)


def _members(kinds: tuple[Any, ...], value: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple([_checked(kinds[0], one, where) for one in value])
    if len(kinds) != len(value):
        raise ValueError(f"{where!r} in it has {len(value)} parts, not {len(kinds)}")
    return tuple(_checked(kind, one, where) for kind, one in zip(kinds, value, strict=True))


def _fits(kind: Any, value: Any) -> bool:
    own = type(value)
    if kind is float:
        return own is float or (own is int and abs(value) < _MOST)
    if kind is int:
        return own is int and abs(value) < _MOST
    return own is kind


def _named(value: Any) -> str:
    return "a very large number" if type(value) is int else f"a {type(value).__name__}"
