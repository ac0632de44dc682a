"""Summaries of torch's updates: gradients and parameters, as addresses, for the stream of their optimizer."""

from __future__ import annotations

import math
import os
import threading
import weakref
from array import array
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any, Protocol

import torch

from whygrad.doors import door
from whygrad.frameworks.registry import brief
from whygrad.frameworks.shared.optimizers import Optimizers
from whygrad.frameworks.shared.ports import Naming, Safety
from whygrad.frameworks.shared.records import NEVER, OptimizerRecord
from whygrad.frameworks.torch import native
from whygrad.frameworks.torch.compiled import TorchPatches
from whygrad.frameworks.torch.ports import Resting
from whygrad.frameworks.torch.stepping import Steps
from whygrad.frameworks.torch.tracing import alone, traced
from whygrad.summaries.kernel import KINDS
from whygrad.summaries.stream import Stream, Tensors
from whygrad.summaries.watching import Watching

_KINDS = {getattr(torch, name): kind for name, kind in KINDS.items()}
_COMPLEX = frozenset((torch.complex64, torch.complex128))
_FLOAT32 = KINDS["float32"]
_MOST = 10_000


class _Thread(threading.local):
    """What has happened in this thread since its last step."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.backwards = 0
        self.clipped: dict[int, tuple[int, float]] = {}  # id of a parameter -> after which backward, norm


class _Plan:
    """One optimizer: how many updates it has made, and where their summaries go."""

    def __init__(self, optimizer: Any, name: str, record: OptimizerRecord) -> None:
        self.ref = weakref.ref(optimizer)
        self.name = name
        self.record = record
        self.others = -record.steps  # updates that are counted here and not there
        self.held: list[int] = []
        self.kept: Tensors | None = None  # the parameters, as they were before the step
        self.stream: Stream | None = None
        self.pending: list[Any] = []  # the parameters, while a step is under way that was measured
        self.due = 0  # the next step that is summarized, as far as it can be foreseen

    @property
    def number(self) -> int:
        """How many updates it has made."""
        return self.record.steps + self.others


class _Observer(Safety, Resting, Naming, Protocol): ...


class Summaries:
    """What is done around steps, and the two things that only happen before it: the loss, and clipping."""

    def __init__(
        self, observer: _Observer, optimizers: Optimizers, stepping: Steps, watching: Watching
    ) -> None:
        self._observer, self._optimizers, self._stepping = observer, optimizers, stepping
        self.watching = watching
        self._patches = TorchPatches()
        self._plans: dict[int, _Plan] = {}
        self._listening = threading.Lock()
        self._thread = _Thread()
        self._always = not watching.schedule.foreseeable or watching.schedule.every == 1
        self.near = False  # may the next step be summarized?
        self._covered = False  # somebody has put his own in the place of backward, on top of ours

    def install(self) -> None:
        """From now on."""
        self._listen(self._always)
        for record in self._optimizers.all():
            record.tell_from(0)

    def remove(self) -> None:
        """No longer."""
        self._listening = threading.Lock()  # a forked child may have got it locked
        self._listen(False)
        for record in self._optimizers.all():
            record.summary_from = NEVER

    def _listen(self, near: bool) -> None:
        """Losses are heard of only where a step is summarized: ``backward`` is called at every one."""
        with self._listening:
            if near and not self.near and not self._covered:
                self._patches.wrap(torch.autograd, "backward", self._backward)
            elif self.near and not near:
                self._covered = not self._patches.restore() or self._covered
            self.near = near

    def _backward(self, original: Any) -> Any:
        @door
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(tensors, *args, **kwargs)
            if self.near:
                try:
                    self._safely(self._differentiated, tensors)
                except Exception as error:
                    self.watching.stop(brief(error))
            return result

        return backward

    def _differentiated(self, loss: Any) -> None:
        here = self._thread
        here.backwards += 1
        if isinstance(loss, torch.Tensor) and loss.numel() == 1 and len(here.losses) < _MOST:
            here.losses.append(native.item(loss))

    def before_clip(self, tensors: Iterable[Any]) -> None:
        """Somebody is about to clip these: remember their norms, unless they were clipped since backward."""
        self._safely(self._clipping, tensors)

    def _clipping(self, tensors: Iterable[Any]) -> None:
        here = self._thread
        found = [p for p in tensors if isinstance(p, torch.Tensor) and p.grad is not None]
        found = [p for p in found if here.clipped.get(id(p), (-1,))[0] != here.backwards]
        if found and len(here.clipped) < _MOST:
            norms = Stream.norms(tensors_of([p.grad for p in found]))
            here.clipped.update((id(p), (here.backwards, n)) for p, n in zip(found, norms, strict=True))

    def before(self, optimizer: Any, frame: FrameType) -> None:
        """A step begins."""
        plan = self._plans.get(id(optimizer))
        if plan is not None and plan.record.steps + 1 < plan.record.summary_from:
            return
        if not self.watching.trouble and os.getpid() == self._observer.pid:
            self._safely(self._begins, optimizer, plan, frame)

    def _begins(self, optimizer: Any, plan: _Plan | None, frame: FrameType) -> None:
        if plan is None or plan.ref() is not optimizer:
            plan = self._plan(optimizer, frame)
        if self.watching.schedule.due(plan.number + 1, plan.name):
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            stream = self._stream(plan, parameters, optimizer, frame)
            plan.kept = kept = again(parameters, plan.kept)
            stream.begins(again([p.grad for p in parameters], kept), kept)
            plan.pending = parameters

    def after(self, optimizer: Any, closure: bool) -> None:
        """It is over, and counted."""
        plan = self._plans.get(id(optimizer))
        if plan is None:
            return
        if plan.pending:
            self._safely(self._ends, optimizer, plan, closure)
            plan.pending = []
        self._thread.losses.clear()
        if not self._always:
            self._foresee(plan)

    def _ends(self, optimizer: Any, plan: _Plan, closure: bool) -> None:
        stream, parameters, tensors = plan.stream, plan.pending, plan.kept
        assert stream is not None
        assert tensors is not None
        if [p.data_ptr() for p in parameters] != tensors.items:
            tensors = tensors_of(parameters)
        if closure:  # the gradients are those of its last call
            stream.measure(tensors_of([p.grad for p in parameters]), tensors)
        before = self._before_clip(parameters, stream)
        stream.ends(plan.number, tensors, self._loss(), rate_of(optimizer), before)
        if self.watching.told is not None:
            self.watching.told(stream)

    def _before_clip(self, parameters: Sequence[Any], stream: Stream) -> Sequence[float]:
        clipped = self._thread.clipped
        if not clipped:
            return ()
        found = [clipped.pop(id(p), None) for p in parameters]
        if not any(found):
            return ()
        return [f[1] if f is not None else n for f, n in zip(found, stream.gradient_norms(), strict=True)]

    def _safely(self, action: Callable[..., None], *arguments: Any) -> None:
        """Our own failure is never the user's; and what we do to tensors is nothing to record."""
        if traced():
            return
        rested = self._observer.rest()
        try:
            with alone():
                action(*arguments)
        except Exception as error:
            self.watching.stop(brief(error))
        finally:
            if rested:
                self._observer.resume()

    def _loss(self) -> float:
        """What was differentiated for this step; nothing if that cannot be told."""
        losses = self._thread.losses
        if len(losses) == 1 or (losses and len(self._plans) == 1):
            return math.fsum(losses)
        return math.nan

    def _foresee(self, plan: _Plan) -> None:
        """Be told of the next due step and of the one before; while one is near, of all their losses."""
        every = self.watching.schedule.every
        plan.due = plan.record.steps + every - plan.number % every
        plans = list(self._plans.values())
        self._listen(any(p.due == p.record.steps + 1 for p in plans))
        for other in plans:
            other.record.tell_from(0 if self.near else other.due)

    def _plan(self, optimizer: Any, frame: FrameType) -> _Plan:
        record = self._stepping.record(optimizer)
        if not record.name:
            self._observer.name_things(frame)
        plan = _Plan(optimizer, record.name or type(optimizer).__name__, record)
        name = plan.name
        before = next((p for p in self._plans.values() if p.name == name and p.ref() is None), None)
        if before is not None:  # made anew, as for each task or epoch: it goes on
            plan.others += before.number
            plan.stream = before.stream
            self._plans = {key: p for key, p in self._plans.items() if p is not before}
        self._plans[id(optimizer)] = plan
        return plan

    def _stream(self, plan: _Plan, parameters: Sequence[Any], optimizer: Any, frame: FrameType) -> Stream:
        held = list(map(id, parameters))
        if plan.stream is None or plan.held != held:
            params = self._stepping.params(optimizer)
            self._observer.name_new_things(params, frame)
            names = [p.name or f"{plan.name}.parameter_{i}" for i, p in enumerate(params)]
            if plan.stream is None or plan.stream.variables != tuple(names):
                plan.stream = self.watching.stream(plan.name, names, instead=plan.stream)
            plan.held, plan.kept = held, None
        return plan.stream


def rate_of(optimizer: Any) -> float:
    """The learning rate of its first group."""
    return float(optimizer.param_groups[0].get("lr", math.nan))


def tensors_of(given: Sequence[Any]) -> Tensors:
    """Where the numbers are. What is not plain memory of this machine is copied first."""
    items: list[Any] = []
    counts, totals, kinds, owners = array("q"), array("q"), bytearray(), []
    for tensor in given:
        if tensor is None:
            items.append(None)
            counts.append(1)
            totals.append(1)
            kinds.append(_FLOAT32)
            continue
        total = count = tensor.numel()
        kind = _KINDS.get(tensor.dtype)
        if (
            kind is None
            or tensor.layout is not torch.strided
            or not tensor.is_cpu
            or not tensor.is_contiguous()
        ):
            tensor = _plain(tensor)
            owners.append(tensor)
            count, kind = tensor.numel(), _KINDS[tensor.dtype]
        if tensor.dtype in _COMPLEX:
            count, total = 2 * count, 2 * total
        items.append(tensor.data_ptr())
        counts.append(count)
        totals.append(total)
        kinds.append(kind)
    form = None if owners or None in items else [t.nbytes for t in given]
    return Tensors(items, counts, bytes(kinds), totals, owners, form)


def again(given: Sequence[Any], like: Tensors | None) -> Tensors:
    """``tensors_of``, quicker if all are just like those before and lie in this machine's memory."""
    if like is not None and like.form is not None:
        try:
            if [t.nbytes for t in given if t.is_contiguous() and t.is_cpu] == like.form:
                items = [t.data_ptr() for t in given]
                return Tensors(items, like.counts, like.kinds, like.totals, like.owners, like.form)
        except (AttributeError, RuntimeError):  # none there, or sparse
            pass
    return tensors_of(given)


def _plain(tensor: Any) -> Any:
    """The same numbers in this machine's memory, one after the other; of a sparse one, those it stores."""
    tensor = native.detach(tensor)
    if tensor.layout is torch.sparse_coo:
        tensor = tensor.coalesce().values()
    elif tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.dtype not in _KINDS:
        tensor = tensor.float()
    return tensor.cpu().contiguous().resolve_conj().resolve_neg()
