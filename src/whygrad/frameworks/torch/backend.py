"""The PyTorch backend: what the rest of whygrad knows of torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch

from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.shared.backend import BaseBackend
from whygrad.frameworks.shared.frames import Where
from whygrad.frameworks.shared.records import Records
from whygrad.frameworks.torch import private
from whygrad.frameworks.torch.distributed import waited_for
from whygrad.frameworks.torch.evidence import TorchFreezer
from whygrad.frameworks.torch.observer import Observer
from whygrad.model import Evidence, Note


class TorchBackend(BaseBackend[Observer]):
    """Watches torch from ``attach`` to ``detach``."""

    framework = "torch"
    version = torch.__version__

    def __init__(self) -> None:
        super().__init__()
        self._waited: tuple[frozenset[int], Where | None] = (frozenset(), None)

    def make(self, setup: Setup) -> Observer:
        """Who will watch."""
        return Observer(setup.namespace, setup.on_step)

    def freeze(self, observer: Observer, records: Records) -> TorchFreezer:
        """Who makes evidence of it."""
        return TorchFreezer(records, observer.standing)

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """A look in the middle of training: no mode is told, no graph is made."""
        with private.unheard(), torch.no_grad():
            yield

    def about_error(self, observer: Observer, error: BaseException) -> None:
        """The parameters that a distributed backward has waited for in vain."""
        tensors, where = waited_for(error)
        self._waited = (frozenset(observer.recorder.param(t).key for t in tensors), where)

    def completed(self, evidence: Evidence) -> Evidence:
        """With those parameters, and with what compiled code has hidden."""
        hidden = self.observer is not None and bool(self.observer.unseen or self.observer.recorder.hidden)
        rank = self.observer.stepping.rank if self.observer is not None else -1
        evidence = replace(evidence, compiled=hidden, rank=rank)
        unused, where = self._waited
        if not unused or evidence.crash is None:
            return evidence
        site = where.site() if where is not None else evidence.crash.site
        return replace(evidence, crash=replace(evidence.crash, unused=unused, site=site))

    def limits(self, observer: Observer) -> list[Note]:
        """What this version keeps to itself, and compiled code."""
        notes = [Note(f"this PyTorch does not let whygrad see {what}") for what in private.unseen()]
        for what, where in observer.unseen.items():
            text = f"{what} was used: operations inside compiled code are not seen, gradients still are"
            notes.append(Note(text, where.site() if where is not None else None, kind="doubt"))
        if observer.given_out is not None and not observer.optimizers.steps:
            text = "its gradients come from torch.func.grad, and what is made of them is not watched"
            notes.append(Note(text, observer.given_out.site(), kind="doubt"))
        if observer.stepping.shared:
            text = "processes that it started share its weights, and what they do is not watched"
            notes.append(Note(text, kind="doubt"))
        return notes
