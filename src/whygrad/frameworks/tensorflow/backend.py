"""The TensorFlow backend: what the rest of whygrad knows of TensorFlow."""

from __future__ import annotations

from contextlib import AbstractContextManager

import tensorflow as tf

from whygrad.frameworks.protocol import Setup
from whygrad.frameworks.shared.backend import BaseBackend
from whygrad.frameworks.shared.records import Records
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.evidence import TensorFlowFreezer
from whygrad.frameworks.tensorflow.observer import Observer
from whygrad.model import Note


class TensorFlowBackend(BaseBackend[Observer]):
    """Watches TensorFlow from ``attach`` to ``detach``."""

    framework = "tensorflow"
    version = tf.__version__

    def make(self, setup: Setup) -> Observer:
        """Who will watch."""
        return Observer(setup.namespace, setup.on_step)

    def freeze(self, observer: Observer, records: Records) -> TensorFlowFreezer:
        """Who asks each tape what it saw."""
        return TensorFlowFreezer(records, observer.captured, observer.standing)

    def alone(self, observer: Observer) -> AbstractContextManager[None]:
        """TensorFlow calls us back for what we ask of it."""
        return observer.resting()

    def limits(self, observer: Observer) -> list[Note]:
        """What this version keeps to itself."""
        return [Note(f"this TensorFlow does not let whygrad see {what}") for what in private.unseen()]
