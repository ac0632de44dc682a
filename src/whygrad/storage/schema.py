"""How the nouns of the model look on disk, derived from their own annotations.

Each dataclass has a twin: a msgspec struct of the same fields, written as a map without the fields that have
their default values. So a new field of the model with a default needs no word here, files of older versions
can still be read, and msgspec checks every type while it decodes. What many parts of a recording share stands
in a table once, and a number takes its place: sites, operations, backwards.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from whygrad.model import Backward, Flow, Op, Site
from whygrad.storage.tables import Tables

_T = TypeVar("_T")
Change = Callable[[Any, Tables], Any]
Index = Annotated[int, msgspec.Meta(ge=0)]
SHARED = (Site, Op, Backward)  # each has a table


class _Array(Generic[_T]):
    """Stands for ``array``, which cannot be subscripted before Python 3.12."""


class Form(NamedTuple):
    """A type on disk, and the ways there and back; none where nothing changes."""

    type: Any
    pack: Change | None = None
    unpack: Change | None = None


@cache
def form(kind: Any) -> Form:
    """How values of this type are written."""
    if kind in SHARED:
        return Form(Index, _refer(kind), _resolve(kind))
    if kind is Flow:
        return Form(tuple[Index, ...], _pack_flow, _unpack_flow)
    if is_dataclass(kind):
        return twin(kind)  # type: ignore[arg-type]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is _Array:
        return Form(bytes, lambda value, _: value.tobytes(), _unpack_array)
    if origin in (Union, UnionType):
        return _optional(kind, parts)
    if origin in (tuple, frozenset):
        return _sequence(origin, parts)
    if origin is not None:
        return _mapping(*parts)
    return Form(kind)


@cache
def twin(kind: Any) -> Form:
    """The struct that stands for a dataclass."""
    hints = get_type_hints(kind, localns={"array": _Array})
    names = [f.name for f in fields(kind)]
    forms = [form(hints[name]) for name in names]
    struct: Any = msgspec.defstruct(
        kind.__name__,
        [_field(f, one.type) for f, one in zip(fields(kind), forms, strict=True)],
        omit_defaults=True,
        gc=False,
    )
    read = _getter(names)
    packs = [(n, one.pack) for n, one in enumerate(forms) if one.pack is not None]
    unpacks = [(n, one.unpack) for n, one in enumerate(forms) if one.unpack is not None]
    return Form(struct, partial(_made, struct, read, packs), partial(_made, kind, read, unpacks))


def _made(
    make: Any, read: Callable[[Any], Any], changes: list[tuple[int, Change]], value: Any, tables: Tables
) -> Any:
    """The other one of the two, from the fields of this one."""
    values = list(read(value))
    for n, change in changes:
        values[n] = change(values[n], tables)
    return make(*values)


def _getter(names: list[str]) -> Callable[[Any], Any]:
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda value: (get(value),)


def _field(field: Any, kind: Any) -> Any:
    """A field with a default has the same one on disk; what is empty there is not written."""
    if field.default is MISSING and field.default_factory is MISSING:
        return field.name, kind
    if field.default_factory is MISSING:
        return field.name, kind, field.default
    if get_origin(kind) is dict:
        return field.name, kind, msgspec.field(default_factory=dict)
    empty = {tuple: (), bytes: b""}.get(get_origin(kind) or kind)
    return (field.name, kind) if empty is None else (field.name, kind, empty)


def _optional(kind: Any, parts: tuple[Any, ...]) -> Form:
    """``X | None``; of the other unions there is none with something to change in it."""
    inner = [form(part) for part in parts if part is not NoneType]
    if all(one.pack is None for one in inner):
        return Form(kind)
    (one,) = inner
    assert one.pack is not None and one.unpack is not None
    return Form(one.type | None, partial(_unless_none, one.pack), partial(_unless_none, one.unpack))


def _unless_none(change: Change, value: Any, tables: Tables) -> Any:
    return None if value is None else change(value, tables)


def _sequence(origin: Any, parts: tuple[Any, ...]) -> Form:
    if origin is tuple and parts[-1] is not Ellipsis:
        assert all(form(part).pack is None for part in parts), parts
        return Form(origin[parts])
    one = form(parts[0])
    kind = tuple[one.type, ...] if origin is tuple else frozenset[one.type]  # type: ignore[name-defined]
    if one.pack is None or one.unpack is None:
        return Form(kind)
    return Form(kind, partial(_each, origin, one.pack), partial(_each, origin, one.unpack))


def _each(make: Any, change: Change, values: Any, tables: Tables) -> Any:
    return make([change(value, tables) for value in values])


def _mapping(key: Any, value: Any) -> Form:
    one = form(value)
    kind: Any = dict[form(key).type, one.type]  # type: ignore[misc]
    if one.pack is None or one.unpack is None:
        return Form(kind, lambda values, _: dict(values))
    return Form(kind, partial(_every, one.pack), partial(_every, one.unpack))


def _every(change: Change, values: Mapping[Any, Any], tables: Tables) -> Any:
    return {key: change(value, tables) for key, value in values.items()}


def _refer(kind: Any) -> Change:
    return lambda value, tables: tables.growing[kind].index(value)


def _resolve(kind: Any) -> Change:
    return lambda value, tables: tables.known[kind][value]


def _pack_flow(flow: Flow, tables: Tables) -> tuple[int, ...]:
    index = tables.growing[Op].index
    tables.count(len(flow.ops))
    return tuple([index(op) for op in flow.ops.values()])


def _unpack_flow(numbers: tuple[int, ...], tables: Tables) -> Flow:
    known = tables.known[Op]
    tables.count(len(numbers))
    return Flow({op.id: op for op in (known[n] for n in numbers)})


def _unpack_array(data: bytes, tables: Tables) -> array[float]:
    return array("f", data)
