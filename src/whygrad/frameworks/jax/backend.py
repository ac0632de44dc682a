"""The JAX backend: what the rest of whygrad knows of JAX."""

from __future__ import annotations

import jax

from whygrad.frameworks.jax import private
from whygrad.frameworks.jax.evidence import JaxFreezer
from whygrad.frameworks.jax.observer import Observer
from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.shared.backend import BaseBackend
from whygrad.frameworks.shared.records import Records
from whygrad.model import Note
from whygrad.model.frameworks import in_part


class JaxBackend(BaseBackend[Observer]):
    """Watches JAX from ``attach`` to ``detach``."""

    framework = "jax"
    version = jax.__version__

    def make(self, setup: Setup) -> Observer:
        """Who will watch."""
        return Observer(setup.namespace, setup.on_step)

    def freeze(self, observer: Observer, records: Records) -> JaxFreezer:
        """Who asks each call that differentiates what it was asked for."""
        return JaxFreezer(records, dict(observer.differentiating.stale))

    def about_error(self, observer: Observer, error: BaseException) -> None:
        """A value that is asked for its number while JAX traces: which line has asked?"""
        observer.died(error)

    def limits(self, observer: Observer) -> list[Note]:
        """What this version keeps to itself."""
        notes = [Note(f"this JAX does not let whygrad see {what}") for what in private.unseen()]
        if observer.optimizers.taken():
            notes.append(Note(in_part([self.framework]), kind="doubt"))
        return notes
