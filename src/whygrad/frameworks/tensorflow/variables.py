"""Variables by their handles, and the layers that made them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from copy import copy
from types import FrameType, MethodType
from typing import Any

from whygrad.doors import door
from whygrad.frameworks.shared.copies import note_origin
from whygrad.frameworks.shared.frames import USER, Where, kind_of, stack, told
from whygrad.frameworks.shared.nodes import Param, clock
from whygrad.frameworks.shared.objects import (
    FRAMEWORKS,
    class_name,
    is_a,
    is_of,
    listed,
    package_of,
    shown,
    shows,
)
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.values import Value, here

_GENERATED = "__autograph_generated_file"


def handle_of(variable: Any) -> int:
    """What identifies a variable, whatever wraps it; 0 for everything else."""
    if not shows(variable, "handle") or not is_of(variable, FRAMEWORKS):
        return 0
    handle = shown(variable, "handle")
    return private.identity(handle) if is_a(handle, private.EAGER_TENSOR) else 0


def variables_in(layer: Any) -> list[Any]:
    """All that a framework says a layer or model has; TF-Agents has methods for it."""
    found = shown(layer, "variables")
    if is_a(found, MethodType):
        found = found()
    return listed(found)


def name_of(thing: Any) -> str:
    """What the framework calls a layer or a variable."""
    found = shown(thing, "name")
    return str.__str__(found) if is_a(found, str) else class_name(thing)


_CALLS = ("call", "__call__")


class Variables:
    """All variables that were seen."""

    def __init__(self) -> None:
        self.params: dict[int, Param] = {}  # by handle
        self._in_call: dict[int, tuple[weakref.ref[Any], tuple[Where, ...]]] = {}  # layers made in ``call``
        self.layers: dict[int, tuple[weakref.ref[Any], tuple[Where, ...]]] = {}
        self.made_layers = 0  # so far, those that are gone included
        self._frozen: dict[int, tuple[weakref.ref[Any], Where | None]] = {}
        self._replaced: dict[int, tuple[weakref.ref[Any], Where | None]] = {}
        self._inside: dict[int, Where] = {}  # layer -> the line of the model's own code that led to it
        self._plain: dict[int, Value] = {}
        self._written: dict[int, Value] = {}  # handle -> the last value that was assigned
        self._known: dict[int, weakref.ref[Any]] = {}
        self._made: dict[int, tuple[Where, ...]] = {}
        self._keys: dict[int, int] = {}

    def copy(self) -> Variables:
        """The same, for a look: what is found out about the parameters of the copy changes nothing here."""
        other = copy(self)
        other.params = {handle: param.copy() for handle, param in list(self.params.items())}
        return other

    def made(self, variable: Any, frame: FrameType) -> None:
        """A new variable."""
        handle = handle_of(variable)
        if handle and handle not in self._known:  # what ``assign`` returns is a second object for it
            self._known[handle] = weakref.ref(variable, lambda _: self._forget(handle))
            self._written.pop(handle, None)  # its initial value
            self._plain.pop(handle, None)
            self._made[handle] = _stack(frame)
            self._keys[handle] = clock()  # parameters are listed in the order in which they were made

    @door
    def _forget(self, handle: int) -> None:
        for known in (self._known, self._made, self._keys, self._plain, self._written):
            known.pop(handle, None)

    def layer_made(self, layer: Any, frame: FrameType) -> None:
        """A new layer."""
        key = id(layer)
        self.made_layers += 1
        made = _stack(frame)
        self.layers[key] = (weakref.ref(layer, lambda _: self._layer_gone(key)), made)
        if made and made[0].code.co_name in _CALLS:
            self._in_call[key] = self.layers[key]
        inside = _in_a_model(frame, layer)
        if inside is not None:
            self._inside[key] = inside

    def _layer_gone(self, key: int) -> None:
        self.layers.pop(key, None)
        self._in_call.pop(key, None)

    def layer_frozen(self, layer: Any, frozen: bool, frame: FrameType) -> None:
        """``layer.trainable = False``."""
        where = here(frame)
        if not frozen and id(layer) in self._frozen:
            self._replaced[id(layer)] = (
                weakref.ref(layer),
                where,
            )  # new to an optimizer that was made before
        self._frozen[id(layer)] = (weakref.ref(layer), where if frozen else None)

    def layer_replaced(self, layer: Any, frame: FrameType) -> None:
        """``model.head = layer``, where there was another head."""
        self._replaced[id(layer)] = (weakref.ref(layer), here(frame))

    def ask_layers(self, own: Callable[[Any], Iterable[Any]], last: bool) -> None:
        """Which variables are whose? What is known of a layer is known of its variables."""
        models = [ref() for ref, _ in list(self.layers.values())] if last else []
        owned = {
            handle_of(v)
            for m in models
            for v in (variables_in(m) if m is not None and shows(m, "layers") else ())
        }
        for ref, made in list(self.layers.values()):
            layer = ref()
            for variable in own(layer) if layer is not None and made else ():
                param = self.params.get(handle_of(variable))
                if param is not None:
                    inside = self._inside.get(id(layer)) if param.untracked_how == "plain object" else None
                    param.made = (inside, *made) if inside is not None else made
                    _made_frozen(param, layer, variable)
                    self._nobodys(param, layer, variable, last and handle_of(variable) not in owned)
        for marks, attribute in ((self._frozen, "frozen_at"), (self._replaced, "replaced_at")):
            for ref, where in list(marks.values()):
                for variable in variables_in(ref()):
                    param = self.params.get(handle_of(variable))
                    if param is not None:
                        setattr(param, attribute, where)

    def _nobodys(self, param: Param, layer: Any, variable: Any, last: bool) -> None:
        """A layer that is made in ``call`` is lost when the call is over; one that only a function knows, as
        in ``Lambda(lambda x: embed(x))``, is there and belongs to no model."""
        if param.name:
            return
        if param.made[0].code.co_name in _CALLS:
            param.name = param.network = f"{class_name(layer)} made in call()"
            param.untracked_how = "made in call"
        elif last:
            param.network = name_of(layer)
            param.name = f"{param.network}.{name_of(variable).partition(':')[0].rpartition('/')[2]}"
            param.untracked_how = "outside the module"
        else:
            return
        param.untracked_in, param.seen = "the model", True

    def param(self, variable: Any) -> Param | None:
        """What is known of a variable that the user holds in hand."""
        handle = handle_of(variable)
        if not handle:
            return None
        param = self.params.get(handle)
        if param is None:
            param = self._new(handle, variable)
        elif package_of(type(variable)) == "keras":
            param.ref = weakref.ref(variable)  # it knows better whether it is frozen
        return param

    def node(self, handle: int, used: bool = True) -> Value:
        """The value of a variable as a parameter, or as the plain storage that it is."""
        param = self.params.get(handle)
        if param is None:
            ref = self._known.get(handle)
            variable = ref() if ref is not None else None
            if variable is None or not shown(variable, "trainable", False):
                return self._plain.setdefault(handle, Value("variable", (), None, False))
            param = self._new(handle, variable)
        assert isinstance(param.node, Value)
        param.used = param.used or used
        return param.node

    def _new(self, handle: int, variable: Any) -> Param:
        made = self._made.get(handle, ())
        param = Param(variable, made, proper=True, trainable=bool(shown(variable, "trainable", True)))
        param.key = self._keys.get(handle, param.key)
        node = Value("variable", (), made[0] if made else None, True)
        node.parameter, node.tainted, node.shape = param, True, param.shape
        param.node = node
        self.params[handle] = param
        for ref, where in list(self._in_call.values()):  # it may be gone when somebody asks for its name
            layer = ref()
            if any(handle_of(own) == handle for own in variables_in(layer)):
                param.made = where
                self._nobodys(param, layer, variable, last=False)
        return param

    def wrote(self, handle: int, value: Value) -> None:
        """``assign``: whoever reads the variable now, reads this."""
        self._written[handle] = value
        param = self.params.get(handle)
        if param is not None:
            param.writer = (value.name, value.where)
            note_origin(param, value.inputs)

    def written(self, handle: int) -> Value | None:
        """The last value that was assigned to a variable outside of its optimizer."""
        return self._written.get(handle)

    def copied(self, source: Param, target: Param) -> None:
        """``target`` has been given values of ``source``."""
        target.copied_from = source
        target.writer = target.writer or ("set_weights", None)

    def forget_writes(self) -> None:
        """Recording starts again: what was assigned before may be long overwritten."""
        self._written.clear()


def _made_frozen(param: Param, layer: Any, variable: Any) -> None:
    """``Dense(8, trainable=False)``: a weight that is meant to learn, in a layer that is not."""
    learns = any(v is variable for v in listed(shown(layer, "_trainable_variables")))
    learns = learns or any(v is variable for v in listed(shown(layer, "_trainable_weights")))
    if learns and shown(layer, "_trainable") is False and param.made:
        param.frozen_at = param.frozen_at or param.made[0]


def _in_a_model(frame: FrameType | None, layer: Any) -> Where | None:
    """The line in a model's own method in which this layer came about."""
    while frame is not None:
        if kind_of(frame.f_code) == USER:
            owner = variables_of(frame).get("self")
            if owner is not layer and shows(owner, "add_weight"):
                return here(frame)
        frame = frame.f_back
    return None


def _stack(frame: FrameType | None) -> tuple[Where, ...]:
    places = stack(frame)
    if places and _GENERATED in places[0].code.co_filename:
        mapped = told(private.told_frames())
        return (mapped, *mapped.outer) if mapped is not None else ()
    return places
