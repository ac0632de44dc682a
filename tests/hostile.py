"""Objects that count whoever asks them anything. Scripts under test import this file, too."""

from __future__ import annotations

from typing import Any

CALLS: list[str] = []

_ASKED = (
    *("__getattribute__", "__len__", "__iter__", "__next__", "__contains__", "__getitem__", "__reversed__"),
    *("__eq__", "__ne__", "__lt__", "__hash__", "__bool__", "__repr__", "__str__", "__format__", "__dir__"),
    *("__float__", "__int__", "__index__", "__array__", "__call__", "__reduce_ex__", "__sizeof__"),
    *("__instancecheck__", "__subclasscheck__", "items", "keys", "values", "copy", "get", "append"),
)


def _counting(name: str) -> Any:
    def asked(self: Any, *args: Any, **kwargs: Any) -> Any:
        CALLS.append(f"{type.__dict__['__name__'].__get__(type(self))}.{name}")
        raise OSError(f"nobody may ask for {name}")

    return asked


def hostile(name: str, *bases: type, spared: tuple[str, ...] = ()) -> type:
    """A class whose methods and properties all count and raise."""
    methods = {asked: _counting(asked) for asked in (*_ASKED, "__getattr__") if asked not in spared}
    hidden = {asked: property(_counting(asked)) for asked in ("__class__", "__dict__", "handle", "variables")}
    return type(name, bases, methods | hidden)


Remote = hostile("Remote")
HostileDict = hostile("HostileDict", dict)
HostileList = hostile("HostileList", list)
HostileTuple = hostile("HostileTuple", tuple)
HostileSet = hostile("HostileSet", set, spared=("__hash__",))
HostileFloat = hostile("HostileFloat", float)
HostileStr = hostile("HostileStr", str)


class Forwarding:
    """As proxies of environments do it: what it does not have is asked of somebody far away."""

    def __init__(self) -> None:
        self.level = 1

    def __getattr__(self, name: str) -> Any:
        CALLS.append(f"Forwarding.{name}")
        raise OSError(name)

    @property
    def handle(self) -> Any:
        CALLS.append("Forwarding.handle")
        raise OSError("handle")


class Meta(type):
    """A class that does not like questions either."""

    __module__ = property(_counting("__module__"))  # type: ignore[assignment]
    __name__ = property(_counting("__name__"))  # type: ignore[assignment]
    __mro__ = property(_counting("__mro__"))  # type: ignore[assignment]
    __repr__ = _counting("__repr__")  # type: ignore[assignment]
    __eq__ = _counting("__eq__")  # type: ignore[assignment]
    __getattr__ = _counting("__getattr__")

    def __hash__(cls) -> int:
        return 1


class OfMeta(metaclass=Meta):
    """Its class is asked for nothing."""


def everything() -> dict[str, Any]:
    """One of each, by name."""
    return {
        "remote": Remote(),
        "forwarding": Forwarding(),
        "of_meta": OfMeta(),
        "a_dict": HostileDict(a=1),
        "a_list": HostileList([1]),
        "a_tuple": HostileTuple((1,)),
        "a_set": HostileSet([1]),
        "a_float": HostileFloat(0.25),
        "a_str": HostileStr("text"),
        "keyed": {HostileSet: 1, 1: Remote(), "one": Forwarding()},
    }
