"""Clipping, clearing and copying, as they happen while recording is on."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils import clip_grad

from whygrad.backends.recording.frames import Where, locate, trampoline
from whygrad.backends.recording.mixing import after_write
from whygrad.backends.recording.nodes import Node, Param, clock, cone
from whygrad.backends.recording.patches import Patches
from whygrad.backends.recording.records import ClearRecord, ClipRecord, CopyRecord
from whygrad.backends.torch.behind import gradient_behind

if TYPE_CHECKING:
    from whygrad.backends.torch.watch import Watch

_MOST = 512
_MOST_COPIES = 8192
_CLAMPS = frozenset(
    ("clamp", "clip", "clamp_min", "clamp_max", "clamp_", "clip_", "clamp_min_", "clamp_max_")
)


class _Thread(threading.local):
    clearing: bool = False


class Events:
    """What was done to gradients and weights lately."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._thread = _Thread()
        self.quiet = False  # nothing is recorded, and every optimizer is known to be cleared
        self.clips: deque[ClipRecord] = deque(maxlen=_MOST)
        self.clears: deque[ClearRecord] = deque(maxlen=_MOST)
        self.copies: dict[tuple[int, int, Where | None], CopyRecord] = {}
        self.dropped: dict[Node, ClipRecord] = {}  # clipped copies of gradients that nobody has used yet

    def install(self, patches: Patches) -> None:
        """Watch the calls that have no hook."""
        for owner in (clip_grad, torch.nn.utils):
            patches.wrap(owner, "clip_grad_norm_", self._clip("norm"))
            patches.wrap(owner, "clip_grad_value_", self._clip("value"))
        patches.wrap(torch.optim.Optimizer, "zero_grad", self._zero_grad)
        patches.wrap(torch.nn.Module, "zero_grad", self._zero_grad)

    # -- clipping ----------------------------------------------------------------------------------

    def _clip(self, kind: str) -> Any:
        def make(original: Any) -> Any:
            def clip(*args: Any, **kwargs: Any) -> Any:
                frame = sys._getframe(1)
                summaries = self._watch.summaries
                if summaries is not None and summaries.near:
                    args, tensors = _listed(args, kwargs)
                    summaries.before_clip(tensors)
                if not self._watch.recording():
                    return trampoline(frame)(original, args, kwargs)
                args, tensors = _listed(args, kwargs)
                self._watch.rest()  # its own arithmetic is not the user's
                try:
                    before = _largest(tensors) if kind == "value" else None
                    result = trampoline(frame)(original, args, kwargs)
                finally:
                    self._watch.resume()
                self._watch.safely(self._clipped, kind, tensors, args, kwargs, before, result, frame)
                return result

            return clip

        return make

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
            before = float(result)
        record = ClipRecord(locate(frame), clock(), kind, _number(threshold), before)
        for tensor in tensors:
            node = self._watch.recorder.table.get(tensor)
            owner = gradient_behind(node) if node is not None else None
            if owner is not None or (node is not None and node.name == "autograd.grad"):
                record.kind = "dropped"
            if owner is not None:
                record.touched[owner.key] = owner
            elif tensor.is_leaf and (node is None or node.parameter is not None or tensor.requires_grad):
                param = self._watch.recorder.param(tensor)
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
        self.put_back(sources)

    def _by_hand(self, owner: Param, where: Where | None) -> None:
        last = self.clips[-1] if self.clips else None
        if last is None or last.where is not where or owner.key in last.touched or last.kind != "hand":
            last = ClipRecord(where, clock(), "hand")
            self.clips.append(last)
        last.touched[owner.key] = owner
        last.present.add(owner.key)
        last.fresh = self._watch.backwards.unused_gradients(last.touched.keys())

    def _placed(self, record: ClipRecord) -> None:
        record.fresh = self._watch.backwards.unused_gradients(record.touched.keys())
        self.clips.append(record)

    def backward_begins(self, reached: dict[int, Param], roots: Iterable[Node], since: int) -> None:
        """Clips since the backward before this one were too early for it, if it writes what they clipped."""
        ready = max((root.time for root in roots), default=0)
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
        watch = self._watch

        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            if self.quiet:
                return original(owner, *args, **kwargs)
            record = watch.optimizers.get(id(owner))
            if record is not None and record.steps:
                record.clears += 1
            if not watch.recording():
                return original(owner, *args, **kwargs)
            self._thread.clearing = True
            self._watch.rest()  # three calls per parameter, none of them the user's
            try:
                result = original(owner, *args, **kwargs)
            finally:
                self._watch.resume()
                self._thread.clearing = False
            self._watch.safely(self._asked_to_clear, owner, sys._getframe(1))
            return result

        return zero_grad

    def _asked_to_clear(self, owner: Any, frame: FrameType) -> None:
        groups = getattr(owner, "param_groups", None)
        tensors = [p for g in groups for p in g["params"]] if groups else list(owner.parameters())
        params = tuple(self._watch.recorder.param(t) for t in tensors)
        self._watch.backwards.forget(p.key for p in params)
        self.cleared(params, locate(frame), "zero_grad")

    def cleared(self, params: Iterable[Param], where: Where | None, by: str) -> None:
        """The gradients of these are gone. One loop over parameters is one event."""
        if self._thread.clearing:
            return  # somebody's zero_grad at work: told as a whole
        last = self.clears[-1] if self.clears else None
        found = {p.key: p for p in params}
        if last is None or last.where is not where or last.by != by or last.touched.keys() & found.keys():
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
        mixed = after_write(name, owner, sources, numbers)
        for param, factor in mixed.items():
            if param is not owner and param.shape == owner.shape and factor != 0:
                self.copied(param, owner, where, name, factor, mixed.get(owner, 0.0))

    def copied(
        self, source: Param, target: Param, where: Where | None, how: str, factor: Any, own: Any = 0.0
    ) -> None:
        """``target`` was given values of ``source``."""
        known = self.copies.get((source.key, target.key, where))
        if known is None:
            if len(self.copies) < _MOST_COPIES:
                self.copies[source.key, target.key, where] = CopyRecord(
                    source, target, where, how, factor, own
                )
        else:
            known.last, known.times, known.factor, known.own = clock(), known.times + 1, factor, own

    def loaded(self, module: torch.nn.Module, state: Any, where: Where | None) -> None:
        """``load_state_dict`` while nothing is recorded: the source is found by its memory."""
        params = self._watch.recorder.params.values()
        homes = {t.data_ptr(): p for p in params if (t := p.ref()) is not None and t.numel()}
        for name, tensor in module.named_parameters():
            given = state.get(name) if hasattr(state, "get") else None
            source = (
                homes.get(given.data_ptr()) if isinstance(given, torch.Tensor) and given.numel() else None
            )
            target = self._watch.recorder.param(tensor)
            if source is not None and source is not target and source.shape == target.shape:
                self.copied(source, target, where, "load_state_dict", 1.0)


def _listed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """The tensors of a clip call; a generator of parameters can be read only once, so it becomes a list."""
    given = args[0] if args else kwargs.get("parameters")
    if isinstance(given, torch.Tensor):
        return args, [given]
    if isinstance(given, (list, tuple)):
        return args, [t for t in given if isinstance(t, torch.Tensor)]
    if not isinstance(given, Iterator):
        return args, []  # the call itself will say what is wrong with it
    tensors = list(given)
    if args:
        return (tensors, *args[1:]), tensors
    kwargs["parameters"] = tensors
    return args, tensors


def _largest(tensors: list[Any]) -> float | None:
    """The largest element of the gradients, before they are clipped by value."""
    try:
        return max(float(t.grad.abs().max()) for t in tensors if t.grad is not None and t.grad.numel())
    except (AttributeError, RuntimeError, NotImplementedError, ValueError):
        return None


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
