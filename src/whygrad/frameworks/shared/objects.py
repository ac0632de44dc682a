"""The user's objects, read without running a line of their code.

An object may forward every question to another process, load itself when it is first touched, or count who
asks. So its class is asked by ``type``, never by ``__class__``; its attributes are read from its own dict;
containers are read by the methods of ``dict`` and ``list`` themselves. Only what a framework's own class
defines is asked for as one usually does.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType
from typing import Any

#: Whose objects are asked as they want to be asked.
FRAMEWORKS = frozenset(("torch", "tensorflow", "keras", "tf_keras"))
#: Whose properties are asked, too; their ``__getattr__`` may lead anywhere.
_LIBRARIES = FRAMEWORKS | {"tensorflow_probability", "tf_agents", "sonnet"}
_SLOTS = (GetSetDescriptorType, MemberDescriptorType)
_FORWARDING = ("__getattr__", "__getattribute__")
_NOTHING = object()

_mro = type.__dict__["__mro__"].__get__
_class_dict = type.__dict__["__dict__"].__get__
_class_name = type.__dict__["__name__"].__get__
_class_module = type.__dict__["__module__"].__get__
_is_subclass = type.__subclasscheck__


def is_a(value: Any, *kinds: type) -> bool:
    """``isinstance`` that believes the type alone."""
    own = type(value)
    for kind in kinds:  # noqa: SIM110 - called for every argument of every operation
        if _is_subclass(kind, own):
            return True
    return False


def class_name(value: Any) -> str:
    """The name of its class."""
    return str(_class_name(type(value)))


def package_of(kind: type) -> str:
    """The top-level package that a class was made in."""
    return module_of(kind).partition(".")[0]


def module_of(kind: type) -> str:
    """The module that a class was made in, as far as it tells."""
    try:
        found = _class_module(kind)
    except AttributeError:
        return ""
    return found if type(found) is str else ""


def classes(value: Any) -> tuple[type, ...]:
    """Its class and all that this one inherits from."""
    found: tuple[type, ...] = _mro(type(value))
    return found


def is_of(value: Any, packages: frozenset[str]) -> bool:
    """Is one of its classes from there?"""
    return any(package_of(kind) in packages for kind in classes(value))


def own(value: Any) -> dict[str, Any]:
    """The attributes that an object itself holds; nothing if it has none, or hides them."""
    found = _defined(type(value), "__dict__")
    if not found or type(found[0][1]) is not GetSetDescriptorType:
        return {}
    held = found[0][1].__get__(value)
    return held if type(held) is dict else dict(items(held))


def attributes(value: Any) -> list[tuple[str, Any]]:
    """The same as pairs."""
    return [(name, held) for name, held in items(own(value)) if type(name) is str]


def shows(value: Any, name: str) -> bool:
    """Does its class define this?"""
    return bool(_defined(type(value), name))


def defines(value: Any, name: str) -> tuple[type, Any] | None:
    """The class that says what this is for the object, and what it is there."""
    return next(iter(_defined(type(value), name)), None)


def is_users(value: Any, names: Iterable[str]) -> bool:
    """Does a class that no framework made define one of these?"""
    defined = [owner for name in names for owner, _ in _defined(type(value), name)]
    return any(package_of(owner) not in FRAMEWORKS for owner in defined if owner is not object)


def shown(value: Any, name: str, default: Any = None) -> Any:
    """An attribute that a framework's class defines, or that the object itself holds."""
    kind = type(value)
    found = _defined(kind, name)
    theirs = _is_theirs(kind, found)
    try:
        if theirs:
            return getattr(value, name, default)
        for owner, raw in found:
            if package_of(owner) in _LIBRARIES and shows(raw, "__get__"):
                return raw.__get__(value, kind)
            if type(raw) in _SLOTS:
                return raw.__get__(value, kind)
    except Exception:  # not built yet, not in this thread, gone
        return default
    held = own(value).get(name, _NOTHING)
    if held is not _NOTHING:
        return held
    plain = [raw for _, raw in found if not shows(raw, "__get__")]
    return plain[0] if plain else default


def _defined(kind: type, name: str) -> list[tuple[type, Any]]:
    """The classes that define an attribute, and what it is there; the one that counts first."""
    return [(owner, held[name]) for owner in _mro(kind) if name in (held := _class_dict(owner))]


def _is_theirs(kind: type, found: list[tuple[type, Any]]) -> bool:
    """A framework's object, and nobody else has a say in how this attribute is found."""
    asked = [*found, *(pair for name in _FORWARDING for pair in _defined(kind, name))]
    owners = [package_of(owner) for owner, _ in asked if owner is not object]
    return bool(owners) and all(owner in FRAMEWORKS for owner in owners)


def code_of(function: Any) -> Any:
    """The code of a plain function or method; nothing if it is anything else."""
    if type(function) is MethodType:
        function = function.__func__
    return function.__code__ if type(function) is FunctionType else None


# -- containers ------------------------------------------------------------------------------------


def items(mapping: Any) -> list[tuple[Any, Any]]:
    """What is in a dict, whatever its class makes of it; nothing for anything else."""
    return list(dict.items(mapping)) if is_a(mapping, dict) else []


def members(container: Any) -> list[Any]:
    """What is in a list, tuple, set or deque, whatever its class makes of it; nothing for anything else."""
    for kind in (list, tuple, set, frozenset, deque):
        if is_a(container, kind):
            return list(container) if _is_frameworks(container) else list(kind.__iter__(container))
    return []


def _is_frameworks(container: Any) -> bool:
    """A list that TensorFlow tracks keeps what is in it elsewhere: it has to be asked."""
    return package_of(type(container)) in FRAMEWORKS


def listed(container: Any) -> list[Any]:
    """What is in a list or a tuple, and in nothing else."""
    return members(container) if is_a(container, list, tuple) else []


def fields(value: Any) -> list[Any]:
    """The names of a named tuple; nothing for anything else."""
    found = _defined(type(value), "_fields") if is_a(value, tuple) else []
    return listed(found[0][1]) if found else []


def leaves(value: Any, depth: int = 8) -> Iterator[Any]:
    """What is in nested lists and tuples."""
    for held in listed(value):
        if depth and is_a(held, list, tuple):
            yield from leaves(held, depth - 1)
        else:
            yield held


def size(container: Any) -> int:
    """How many are in there."""
    for kind in (list, tuple, dict, set, frozenset, deque):
        if is_a(container, kind):
            return len(container) if _is_frameworks(container) else kind.__len__(container)
    return 0


def subscript(key: Any) -> str:
    """How one writes a key: ``['actor']``."""
    for kind in (bool, str, int):
        if is_a(key, kind):
            return f"[{kind.__repr__(key)}]"
    return "[...]"


def plain_float(value: Any) -> float | None:
    """The number that a float is, without what its class makes of it."""
    return float.__float__(value) if is_a(value, float) else None


def plain_number(value: Any) -> float | None:
    """The number that a float or an int is; a truth value is none."""
    if not is_a(value, int):
        return plain_float(value)
    try:
        return float(int.__int__(value)) if not is_a(value, bool) else None
    except OverflowError:
        return None


def plain_array(value: Any) -> Any:
    """An array or scalar of numpy, as numpy itself sees it; nothing for anything else."""
    numpy = sys.modules.get("numpy")
    kind = getattr(numpy, "ndarray", None)  # half imported
    if kind is None or numpy is None:
        return None
    if type(value) is kind:
        return value
    if is_a(value, kind):
        return kind.view(value, kind)
    return numpy.asarray(value) if is_a(value, numpy.generic) and package_of(type(value)) == "numpy" else None
