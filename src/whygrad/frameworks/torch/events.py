"""Clipping, clearing and copying, as they happen while recording is on."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, Protocol

import torch
from torch.nn.utils import clip_grad

from whygrad.doors import door
from whygrad.frameworks.shared.copies import Copies
from whygrad.frameworks.shared.frames import Where, locate, plain_call, trampoline
from whygrad.frameworks.shared.mixtures import after_write
from whygrad.frameworks.shared.nodes import Node, Param, clock, cone
from whygrad.frameworks.shared.objects import is_a, items, listed
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.patches import Patches
from whygrad.frameworks.shared.ports import Recording, Safety
from whygrad.frameworks.shared.records import ClearRecord, ClipRecord
from whygrad.frameworks.torch import modules, native
from whygrad.frameworks.torch.kinds import KINDS
from whygrad.frameworks.torch.ports import Gradients, Resting, Summarizer, Written
from whygrad.frameworks.torch.recorder import Recorder
from whygrad.frameworks.torch.tracing import alone, traced
from whygrad.frameworks.torch.views import gradient_behind
from whygrad.model.events import SHARED

_MOST = 512
_CLAMPS = frozenset(
    ("clamp", "clip", "clamp_min", "clamp_max", "clamp_", "clip_", "clamp_min_", "clamp_max_")
)


class _Thread(threading.local):
    clearing: bool = False


class _Observer(Safety, Recording, Resting, Protocol):
    @property
    def summaries(self) -> Summarizer | None: ...


class Events:
    """What was done to gradients and weights lately."""

    gradients: Gradients  # set by the observer
    by_hand: Written  # set by the observer

    def __init__(self, observer: _Observer, recorder: Recorder, optimizers: Optimizers) -> None:
        self._observer, self._recorder, self._optimizers = observer, recorder, optimizers
        self._thread = _Thread()
        self.quiet = False  # nothing is recorded, and every optimizer is known to be cleared
        self.clips: deque[ClipRecord] = deque(maxlen=_MOST)
        self.clears: deque[ClearRecord] = deque(maxlen=_MOST)
        self._steps = 0  # all that had been taken at the last clear
        self.copies = Copies()
        self._scaled: set[int] = set()  # the parameters whose gradients a GradScaler has made larger
        self.dropped: dict[Node, ClipRecord] = {}  # clipped copies of gradients that nobody has used yet

    def install(self, patches: Patches) -> None:
        """Watch the calls that have no hook."""
        for owner in (clip_grad, torch.nn.utils):
            patches.wrap(owner, "clip_grad_norm_", self._clip("norm"))
            patches.wrap(owner, "clip_grad_value_", self._clip("value"))
        patches.wrap(torch.optim.Optimizer, "zero_grad", self._zero_grad)
        patches.wrap(torch.nn.Module, "zero_grad", self._zero_grad)
        patches.wrap(torch.amp.GradScaler, "unscale_", self._unscale)

    # -- clipping ----------------------------------------------------------------------------------

    def _clip(self, kind: str) -> Any:
        def make(original: Any) -> Any:
            @door
            def clip(*args: Any, **kwargs: Any) -> Any:
                frame, observer = sys._getframe(1), self._observer
                call, begun = plain_call, None
                try:
                    call = trampoline(frame)
                    if observer.recording() or (observer.summaries is not None and observer.summaries.near):
                        args, tensors = _listed(args, kwargs)
                        with alone():
                            begun = self._clip_begins(kind, tensors)
                except Exception as error:
                    observer.stepped_aside(error)
                try:
                    result = call(original, args, kwargs)
                finally:
                    try:
                        if begun is not None:
                            observer.resume()
                    except Exception as error:
                        observer.stepped_aside(error)
                        begun = None
                try:
                    if begun is not None and not traced():
                        with alone():
                            self._clipped(kind, tensors, args, kwargs, begun[0], result, frame)
                except Exception as error:
                    observer.stepped_aside(error)
                return result

            return clip

        return make

    def _clip_begins(self, kind: str, tensors: list[Any]) -> tuple[float | None] | None:
        """Something is about to be clipped; if that is recorded, its largest element where it matters."""
        summaries = self._observer.summaries
        if summaries is not None and summaries.near:
            summaries.before_clip(tensors)
        if not self._observer.recording():
            return None
        self._observer.rest()  # its own arithmetic is not the user's
        return (_largest(tensors) if kind == "value" else None,)

    def _clipped(
        self,
        kind: str,
        tensors: list[Any],
        args: Any,
        kwargs: Any,
        before: Any,
        result: Any,
        frame: FrameType,
    ) -> None:
        name = "max_norm" if kind == "norm" else "clip_value"
        threshold = args[1] if len(args) > 1 else kwargs.get(name)
        if kind == "norm" and isinstance(result, torch.Tensor):
            before = float(native.item(result))
        record = ClipRecord(locate(frame), clock(), kind, _number(threshold), before)
        for tensor in tensors:
            node = self._recorder.table.get(tensor)
            owner = gradient_behind(node) if node is not None else None
            if owner is not None or (node is not None and node.name == "autograd.grad"):
                record.kind = "dropped"
            if owner is not None:
                record.touched[owner.key] = owner
            elif tensor.is_leaf and (node is None or node.parameter is not None or tensor.requires_grad):
                param = self._recorder.param(tensor)
                record.touched[param.key] = param
                if tensor.grad is not None:
                    record.present.add(param.key)
        self._placed(record)

    def gradient_written(self, name: str, owner: Param, sources: Iterable[Node], where: Where | None) -> None:
        """An in-place operation on ``p.grad``."""
        if name.strip("_") in _CLAMPS:
            self._by_hand(owner, where)
        elif name == "zero_":
            self.cleared((owner,), where, "grad.zero_()")
        self.gradients.handed_over(owner, sources, where)
        self.put_back(sources)

    def _by_hand(self, owner: Param, where: Where | None) -> None:
        last = self.clips[-1] if self.clips else None
        if last is None or last.where is not where or owner.key in last.touched or last.kind != "hand":
            last = ClipRecord(where, clock(), "hand")
            self.clips.append(last)
        last.touched[owner.key] = owner
        last.present.add(owner.key)
        last.fresh = self.gradients.unused_gradients(last.touched.keys())

    def _unscale(self, original: Any) -> Any:
        observer = self._observer

        @door
        def unscale_(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(scaler, optimizer, *args, **kwargs)
            try:
                if self._scaled and not observer.aside and not traced():
                    with alone():
                        self._scaled -= {self._recorder.param(p).key for p in modules.cleared_by(optimizer)}
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return unscale_

    def _placed(self, record: ClipRecord) -> None:
        record.scaled = bool(self._scaled & record.touched.keys())
        record.fresh = self.gradients.unused_gradients(record.touched.keys())
        self.clips.append(record)

    def backward_begins(self, reached: dict[int, Param], roots: Iterable[Node], since: int) -> None:
        """Clips since the backward before this one were too early for it, if it writes what they clipped."""
        roots = list(roots)
        ready = max((root.time for root in roots), default=0)
        if any(root.where is not None and root.where.call().endswith("Scaler.scale") for root in roots):
            self._scaled |= reached.keys()
        else:
            self._scaled -= reached.keys()
        for clip in reversed(self.clips):
            if clip.time <= since:
                break
            if clip.touched.keys() & reached.keys():
                clip.awaited, clip.ready = True, ready < clip.time

    def clipped_copy(self, name: str, source: Node, made: Node, where: Where | None) -> None:
        """``p.grad.clamp(-1, 1)``: a clipped copy, not yet anybody's gradient."""
        owner = gradient_behind(source)
        if name.strip("_") in _CLAMPS and (owner is not None or source.name == "autograd.grad"):
            if len(self.dropped) > _MOST:
                self.dropped.pop(next(iter(self.dropped)))
            record = ClipRecord(where, clock(), "dropped")
            params = [owner] if owner is not None else [n.parameter for n in source.inputs if n.parameter]
            record.touched.update((p.key, p) for p in params if p is not None)
            self.dropped[made] = record

    def put_back(self, sources: Iterable[Node]) -> None:
        """These values were written into gradients or weights: clipped copies among them are in use."""
        if self.dropped:
            for node in cone(tuple(sources)):
                self.dropped.pop(node, None)

    # -- clearing ----------------------------------------------------------------------------------

    def _zero_grad(self, original: Any) -> Any:
        observer = self._observer

        @door
        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            if self.quiet:
                return original(owner, *args, **kwargs)
            begun = False
            try:
                begun = self._clear_begins(owner)
            except Exception as error:
                observer.stepped_aside(error)
            try:
                result = original(owner, *args, **kwargs)
            finally:
                self._thread.clearing = False
                try:
                    if begun:
                        observer.resume()
                except Exception as error:
                    observer.stepped_aside(error)
                    begun = False
            try:
                if begun and not traced():
                    with alone():
                        self._asked_to_clear(owner, sys._getframe(1))
            except Exception as error:
                observer.stepped_aside(error)
            return result

        return zero_grad

    def _clear_begins(self, owner: Any) -> bool:
        """``zero_grad`` is about to run; true if it is recorded."""
        record = self._optimizers.of(owner)
        if record is None and not modules.is_module(owner):
            record = self._optimizers.of(modules.stepper(owner))
        if record is not None and record.steps:
            record.clears += 1
        if not self._observer.recording():
            return False
        self._thread.clearing = True
        self._observer.rest()  # three calls per parameter, none of them the user's
        return True

    def _asked_to_clear(self, owner: Any, frame: FrameType) -> None:
        tensors = modules.cleared_by(owner)
        params = tuple(self._recorder.param(t) for t in tensors)
        self.gradients.forget(p.key for p in params)
        self.cleared(params, locate(frame), "zero_grad")

    def cleared(self, params: Iterable[Param], where: Where | None, by: str) -> None:
        """The gradients of these are gone. One loop over parameters is one event."""
        if self._thread.clearing:
            return  # somebody's zero_grad at work: told as a whole
        last = self.clears[-1] if self.clears else None
        found = {p.key: p for p in params}
        other = (
            last is None or last.where is not where or last.by != by or self._steps != self._optimizers.steps
        )
        if last is None or other or last.touched.keys() & found.keys():
            self._steps = self._optimizers.steps  # networks that come and go are cleared one after the other
            last = ClearRecord(where, clock(), by)
            self.clears.append(last)
        last.touched.update(found)

    # -- copying -----------------------------------------------------------------------------------

    def written(
        self,
        name: str,
        owner: Param,
        sources: tuple[Node, ...],
        numbers: tuple[float, ...],
        where: Where | None,
    ) -> None:
        """A parameter was overwritten in place."""
        self.put_back(sources)
        self.by_hand.written(owner, sources, where)
        self.gradients.taken_by_hand(sources)
        mixed = after_write(KINDS.of(name), owner, sources, numbers, KINDS)
        for param, factor in mixed.items():
            if param is not owner and param.shape == owner.shape:
                how = SHARED if factor == 1 and _in_one_place(param, owner) else name
                self.copies.add(param, owner, where, how, factor, mixed.get(owner, 0.0))

    def loaded(self, module: torch.nn.Module, state: Any, where: Where | None) -> None:
        """``load_state_dict`` while nothing is recorded: the source is found by its memory."""
        params = self._recorder.params.values()
        homes = {t.data_ptr(): p for p in params if (t := p.ref()) is not None and t.numel()}
        held = dict(items(state))
        for name, tensor in modules.named_parameters(module):
            given: Any = held.get(name)
            source = homes.get(given.data_ptr()) if is_a(given, torch.Tensor) and given.numel() else None
            target = self._recorder.param(tensor)
            if source is not None and source is not target and source.shape == target.shape:
                self.copies.add(source, target, where, "load_state_dict", 1.0)


def _in_one_place(one: Param, other: Param) -> bool:
    """Have they the same memory? ``target.data = param.data`` copies nothing."""
    first, second = one.ref(), other.ref()
    both = first is not None and second is not None and first is not second and first.numel()
    return bool(both) and first.data_ptr() == second.data_ptr()


def _listed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """The tensors of a clip call; a generator of parameters can be read only once, so it becomes a list."""
    given = args[0] if args else kwargs.get("parameters")
    if is_a(given, torch.Tensor):
        return args, [given]
    if is_a(given, list, tuple):
        return args, [t for t in listed(given) if is_a(t, torch.Tensor)]
    if not isinstance(given, Iterator):
        return args, []  # the call itself will say what is wrong with it
    tensors: list[Any] = []
    again: Any = tensors
    try:
        tensors.extend(given)
    except Exception as error:  # the user's own: whoever reads it shall meet it
        again = _until(tensors, error)
    if args:
        return (again, *args[1:]), tensors
    kwargs["parameters"] = again
    return args, tensors


def _until(tensors: list[Any], error: Exception) -> Iterator[Any]:
    """What a generator gave before it failed, and its failure."""
    yield from tensors
    raise error


def _largest(tensors: list[Any]) -> float | None:
    """The largest element of the gradients, before they are clipped by value."""
    try:
        return max(
            float(native.item(native.most(native.absolute(t.grad))))
            for t in tensors
            if t.grad is not None and t.grad.numel()
        )
    except (AttributeError, RuntimeError, NotImplementedError, ValueError):
        return None


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
