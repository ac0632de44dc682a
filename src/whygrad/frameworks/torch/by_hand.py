"""Updates that no optimizer of torch makes: ``p.data -= lr * p.grad``, a class of one's own, another library.

Whoever writes into a parameter what was computed from a gradient makes an update. He is known by his object,
if there is one, and by the line. His first write after a ``backward`` begins the next update. Nobody tells of
such a step: while nothing is recorded, it is noticed at the next ``backward``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import islice
from types import CodeType, FrameType
from typing import Any, Protocol

import torch

from whygrad.frameworks.shared.attention import Attention
from whygrad.frameworks.shared.frames import INVISIBLE, USER, Where, kind_of
from whygrad.frameworks.shared.nodes import Node, Param, clock, cone
from whygrad.frameworks.shared.objects import attributes, is_a, items, listed
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming, Safety, Window
from whygrad.frameworks.shared.records import OptimizerRecord
from whygrad.frameworks.shared.scopes import variables_of
from whygrad.frameworks.torch import modules, native
from whygrad.frameworks.torch.differentiating import Backwards
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.stepping import Steps

_NEAR = 128  # values behind one that is written
_MOST = 16  # makers
_FAR = 24  # frames between the write and the user's line
_PART = 256  # elements of a weight by which it is told whether it has changed


class Loop:
    """Stands for a maker of updates that is no object."""


class _Maker:
    __slots__ = ("backwards", "due", "keeps", "record", "sum")

    def __init__(self, record: OptimizerRecord, keeps: Any) -> None:
        self.record, self.keeps = record, keeps
        self.backwards = -1  # how many there had been when its last update began
        self.due = False  # attention has not been told of its last update
        self.sum: float | None = None


class _Observer(Safety, Window, Naming, Protocol):
    def stepped(self) -> None: ...


class ByHand:
    """Everybody who makes such updates."""

    def __init__(
        self,
        observer: _Observer,
        recorder: Recorder,
        optimizers: Optimizers,
        attention: Attention,
        stepping: Steps,
        backwards: Backwards,
    ) -> None:
        self._observer, self._recorder, self._optimizers = observer, recorder, optimizers
        self._attention, self._stepping, self._backwards = attention, stepping, backwards
        self._makers: dict[tuple[int, Any], _Maker] = {}
        self._moments: set[int] = set()  # parameters that never learn, and hold what was made of gradients
        self._kinds: set[tuple[type, CodeType, int]] = set()  # objects that do it, by the line that writes
        self.found: Callable[[], None]  # to be called when there is one; set by the hooks

    def __bool__(self) -> bool:
        return bool(self._makers)

    # -- while it is recorded ----------------------------------------------------------------------

    def written(self, owner: Param, sources: Iterable[Node], where: Where | None) -> None:
        """A parameter was overwritten, with these values."""
        tensor = owner.ref()
        if where is None or tensor is None or not (owner.proper or owner.asked > 1):
            return
        if not tensor.requires_grad:
            if self._by_gradient(sources):
                self._moments.add(owner.key)
            return
        frame = _outside(sys._getframe(1))
        maker = self._maker(owner, sources, where, frame) if frame is not None else None
        if maker is None or frame is None:
            return
        if self._backwards.count != maker.backwards:
            maker.backwards = self._backwards.count
            self._begins(maker, owner, frame)
        maker.record.held.setdefault(owner.key, owner)

    def _maker(self, owner: Param, sources: Iterable[Node], where: Where, frame: FrameType) -> _Maker | None:
        who = _object_at_work(frame)
        if is_a(who, torch.optim.Optimizer):
            return None  # its own arithmetic; its steps are told
        lines = tuple((place.code, place.line) for place in (where, *where.outer))
        key = (id(who) if who is not None else 0, lines)
        maker = self._makers.get(key)
        kind = (type(who), frame.f_code, frame.f_lineno)
        makes = maker is None and (kind in self._kinds or self._by_gradient(sources))
        makes = makes and not self._is_stepped(owner)
        if makes and len(self._makers) < _MOST:
            if who is not None:
                self._kinds.add(kind)  # another one of them makes updates, too, even of nothing
            thing = who if who is not None else Loop()
            record = OptimizerRecord(thing, where)
            record.by_hand, record.name = True, "" if who is not None else _called(where)
            record.held = {p.key: p for p in self._beside(owner, who, frame)}
            self._optimizers.add(record)
            self.found()
            maker = self._makers[key] = _Maker(record, None if who is not None else thing)
        return maker

    def _is_stepped(self, owner: Param) -> bool:
        """An optimizer of torch has it: what is written beside its steps is a perturbation, or is undone."""
        return any(owner.key in r.held for r in self._optimizers.all() if not r.by_hand)

    def _by_gradient(self, sources: Iterable[Node]) -> bool:
        for node in islice(cone(sources), _NEAR):
            if node.gradient is not None or node.name == "autograd.grad":
                return True
            if node.parameter is not None and node.parameter.key in self._moments:
                return True
        return False

    def _begins(self, maker: _Maker, owner: Param, frame: FrameType) -> None:
        record = maker.record
        record.held[owner.key] = owner
        self._observer.name_new_things(record.held.values(), frame)
        record.held.update(self._of_the_same_networks(record))
        self._stepping.made_by_hand(record, frame)
        self._optimizers.count(record)
        record.last_step = clock()
        maker.due = True

    def _beside(self, owner: Param, who: Any, frame: FrameType) -> Iterable[Param]:
        """What stands with it in one list, of the maker or of the function that is running."""
        tensor = owner.ref()
        held = [value for _, value in attributes(who)] if who is not None else []
        held += variables_of(frame).values()
        for value in held:
            inside = _tensors(value)
            if any(t is tensor for t in inside):
                found = [self._recorder.param(t) for t in inside if t.is_leaf and t.requires_grad]
                yield from (p for p in found if p is owner or not (p.loaded or p.copied_from))

    def _of_the_same_networks(self, record: OptimizerRecord) -> dict[int, Param]:
        """The rest of the networks that it writes into: a loop may pass over what has no gradient."""
        networks = {p.network for p in record.held.values() if p.network}
        others = {key for r in self._optimizers.all() if r is not record for key in r.held}
        return {
            p.key: p
            for p in list(self._recorder.params.values())
            if p.network in networks and p.proper and p.key not in others
            if (t := p.ref()) is not None and t.requires_grad
        }

    # -- at every backward -------------------------------------------------------------------------

    def before_backward(self) -> bool:
        """Has somebody made an update since the last one? Then windows open and close here."""
        found = False
        for maker in list(self._makers.values()):
            record, told = maker.record, maker.due
            now = _sum(record)
            changed = maker.sum is not None and now != maker.sum and not self._observer.recording()
            maker.due, maker.sum = False, now
            if changed and not told:
                self._optimizers.count(record)
            if changed or told:
                found = True
                if self._attention.wants(record):
                    self._observer.open_window()
                else:
                    self._attention.close_if_done(self._observer)
        return found

    def untold(self) -> set[int]:
        """Who has made an update since the last backward that nobody has told of."""
        if self._observer.recording():
            return set()
        makers = [m for m in self._makers.values() if m.sum is not None and not m.due]
        return {m.record.key for m in makers if _sum(m.record) != m.sum}


def _outside(frame: FrameType | None) -> FrameType | None:
    """The first frame that is not ours."""
    while frame is not None and kind_of(frame.f_code) == INVISIBLE:
        frame = frame.f_back
    return frame


def _object_at_work(frame: FrameType | None) -> Any:
    """Whose method makes the update: the outermost object between the write and the user's line."""
    found = None
    for _ in range(_FAR):
        if frame is None:
            break
        mine = variables_of(frame).get("self") if "self" in frame.f_code.co_varnames else None
        if mine is not None and not modules.is_module(mine) and not is_a(mine, torch.Tensor):
            found = mine
        if kind_of(frame.f_code) == USER:
            break
        frame = frame.f_back
    return found


def _called(where: Where) -> str:
    function = where.site().function
    return f"the loop at line {where.line}" if function == "<module>" else f"{function}()"


def _tensors(value: Any) -> list[Any]:
    """The tensors of a list or a dictionary, or of the modules in it, if there is nothing else."""
    if is_a(value, dict):
        inside = [held for _, held in items(value)]
    else:
        inside = list(listed(value)) if is_a(value, list, tuple) else []
    if inside and all(map(modules.is_module, inside)):
        return [parameter for module in inside for parameter in modules.parameters(module)]
    return inside if all(is_a(t, torch.Tensor) for t in inside) else []


def _sum(record: OptimizerRecord) -> float | None:
    """Of a part of the first of its weights that is still there."""
    for param in record.held.values():
        tensor = param.ref()
        if tensor is not None and tensor.numel() and param.key not in (record.absent_always or ()):
            return float(native.item(native.total(native.first(tensor, _PART))))
    return None
