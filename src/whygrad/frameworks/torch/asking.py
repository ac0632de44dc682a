"""A question before ``backward``: which of these parameters would this loss reach, and why not the others?

Nothing is differentiated and nothing is kept: the answer is the evidence of an update that is only imagined,
with one optimizer that holds the parameters in question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import torch

from whygrad.flow.paths import Reach
from whygrad.frameworks.shared.frames import locate
from whygrad.frameworks.shared.nodes import Node, clock, cone
from whygrad.frameworks.shared.records import BackwardRecord, OptimizerRecord, UpdateRecord
from whygrad.frameworks.torch import graph, private
from whygrad.frameworks.torch.backend import TorchBackend
from whygrad.frameworks.torch.evidence import TorchFreezer
from whygrad.frameworks.torch.observer import Observer
from whygrad.model import Backward, Evidence, Kind, Site

_MODEL = "whygrad needs a module, an optimizer or parameters, and this is a {}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the loss would do to the parameters in question."""

    evidence: Evidence  # of the imagined update
    asked: frozenset[int]
    starved: frozenset[int]  # may learn, and would get nothing, or nothing but zeros
    recorded: bool  # the whole way to the loss was seen, not only autograd's graph
    site: Site | None  # where the question was asked


def understands(loss: Any) -> bool:
    """Is this loss one of torch's?"""
    return isinstance(loss, torch.Tensor)


def parameters_of(model: Any) -> dict[torch.Tensor, str]:
    """The parameters of a module, an optimizer or a list, with names to fall back on; raises for others."""
    found = dict(_named(model))
    if not found:
        raise ValueError(f"this {type(model).__name__} has no parameters: there is nothing to ask about")
    return found


def ask(
    backend: TorchBackend | None,
    loss: torch.Tensor,
    parameters: dict[torch.Tensor, str],
    model: Any,
    frame: FrameType | None,
) -> Answer:
    """Look for the parameters of ``model`` behind ``loss``; names are those in scope at ``frame``."""
    with private.unheard():
        observer = backend.observer if backend is not None else None
        return _Question(observer or Observer(dict), loss, parameters, model, frame).answer()


class _Question:
    """One loss, some parameters, and what was recorded of the way between them."""

    def __init__(
        self,
        observer: Observer,
        loss: torch.Tensor,
        parameters: dict[torch.Tensor, str],
        model: Any,
        frame: FrameType | None,
    ) -> None:
        self._observer = observer
        self._tensors = parameters
        self._model = model
        recorder = observer.recorder
        self._where = locate(frame)
        self._seen = recorder.table.get(loss) is not None
        self._root = recorder.node(loss, self._where)
        self._held = {p.key: p for p in map(recorder.param, self._tensors)}
        self._reached = {p.key: p for p in map(recorder.param, graph.leaves([loss]))}
        observer.name_things(frame)
        self._name_the_rest()

    def answer(self) -> Answer:
        """Imagine the backward and the step."""
        evidence = self._evidence()
        (update,) = evidence.updates
        (backward,) = update.backwards
        zero = frozenset(_only_zeros(backward, self._reached.keys() & self._held.keys()))
        known = evidence.parameters
        poor = (self._held.keys() - self._reached.keys()) | zero
        return Answer(
            evidence=replace(evidence, updates=(replace(update, zero=zero),)),
            asked=frozenset(self._held),
            starved=frozenset(k for k in poor if known[k].trainable),
            recorded=self._seen and not any(op.kind is Kind.UNSEEN for op in backward.flow.ops.values()),
            site=self._where.site() if self._where is not None else None,
        )

    def _name_the_rest(self) -> None:
        """They are in the user's hands, so they are alive; nameless ones go by the class of their owner."""
        for tensor, name in self._tensors.items():
            param = self._observer.recorder.param(tensor)
            param.seen = True
            if not param.name:
                param.name, param.network = name, type(self._model).__name__

    def _evidence(self) -> Evidence:
        """The evidence of a run in which only this update happened; the recording itself is left alone."""
        imagined = Observer(dict)
        imagined.recorder, imagined.unseen = self._observer.recorder, self._observer.unseen
        imagined.optimizers.add(self._optimizer())
        return TorchFreezer(imagined.records(), imagined.standing).evidence(None, finished=True)

    def _optimizer(self) -> OptimizerRecord:
        known = self._observer.optimizers.of(self._model)
        record = OptimizerRecord(self, known.made if known is not None else None)
        record.kind, record.name = "", known.name if known is not None else ""
        record.held = self._held
        record.absent_always = absent = frozenset(self._held.keys() - self._reached.keys())
        record.keep(UpdateRecord(1, None, absent, frozenset(), (self._backward(),), self._since()))
        return record

    def _backward(self) -> BackwardRecord:
        recorder, since = self._observer.recorder, self._since()
        return BackwardRecord(
            where=self._where,
            roots=(self._root,),
            reached=self._reached,
            wanted={},
            exits=tuple(node for node in recorder.outside.exits if node.time > since),
            number=self._observer.backwards.count + 1,
            time=clock(),
            applied=self._reached.keys() & self._held.keys(),
            unused=tuple(self._left_out(since)),
        )

    def _left_out(self, since: int) -> Iterator[Node]:
        """Other losses of the same forward pass; one of another forward pass is simply another loss."""
        recorder = self._observer.recorder
        own = {node for node in cone((self._root,)) if node.tainted and node.parameter is None}
        for scalar in recorder.unused_scalars(since):
            if scalar not in own and not own.isdisjoint(cone((scalar,))):
                yield scalar

    def _since(self) -> int:
        """When these parameters were last stepped: what is older is data of an earlier update."""
        records = self._observer.optimizers.all()
        return max((r.last_step for r in records if r.held.keys() & self._held.keys()), default=0)


def _only_zeros(backward: Backward, keys: Iterable[int]) -> Iterator[int]:
    """Reached by autograd, but every way leads through an operation whose derivative is zero."""
    reach = Reach(backward.flow, backward.roots)
    for key in keys:
        path = reach.path(key)
        if path is not None and path.cuts and all(path.ops[at].carries for at in path.cuts):
            yield key


def _named(model: Any) -> Iterator[tuple[torch.Tensor, str]]:
    """Each parameter with a name: its path in the class of the module, or its place in the list."""
    kind = type(model).__name__
    if isinstance(model, torch.nn.Module):
        yield from ((parameter, f"{kind}.{path}") for path, parameter in model.named_parameters())
    elif isinstance(model, torch.optim.Optimizer):
        yield from _named([p for group in model.param_groups for p in group["params"]])
    elif isinstance(model, torch.Tensor):
        yield model, kind.lower()
    elif isinstance(model, Iterable) and not isinstance(model, (str, bytes, dict)):
        for index, part in enumerate(model):
            path = f"parameters[{index}]"
            yield from ((t, path if isinstance(part, torch.Tensor) else name) for t, name in _named(part))
    else:
        raise TypeError(_MODEL.format(kind))
