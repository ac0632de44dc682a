"""Layers that compute something else in training than in evaluation, and in which mode they were called.

In Keras the mode is an argument of each call; a dropout that is not training gives back what it was given, so
that no operation tells of it. Their ``call`` is asked instead.
"""

from __future__ import annotations

import inspect
from typing import Any

from whygrad.doors import door
from whygrad.frameworks.shared.objects import is_a, own
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.graph_reading import key_of
from whygrad.frameworks.tensorflow.ports import Listener
from whygrad.frameworks.tensorflow.recorder import Recorder

_BATCH = ("BatchNormalization", "BatchNormalizationBase")
#: Module below ``keras.src`` -> its classes.
LAYERS: dict[str, tuple[str, ...]] = {
    "layers.regularization.dropout": ("Dropout",),
    "layers.regularization.spatial_dropout": ("BaseSpatialDropout",),
    "layers.regularization.gaussian_dropout": ("GaussianDropout",),
    "layers.regularization.gaussian_noise": ("GaussianNoise",),
    "layers.regularization.alpha_dropout": ("AlphaDropout",),
    "layers.normalization.batch_normalization": _BATCH,
}


class TrainingModes:
    """Notes the mode on the value that such a layer gives."""

    def __init__(self, observer: Listener, recorder: Recorder) -> None:
        self._observer, self._recorder = observer, recorder

    def call(self, original: Any) -> Any:
        """Replaces ``call`` of a layer with modes."""

        @door
        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(layer, *args, **kwargs)
            try:
                if self._observer.recording() and not self._observer.is_resting():
                    self._observer.safely(self._called, layer, args, kwargs, result)
            except Exception as error:
                self._observer.stepped_aside(error)
            return result

        call.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]  # Keras asks for it
        return call

    def _called(self, layer: Any, args: Any, kwargs: Any, result: Any) -> None:
        told = args[1] if len(args) > 1 else kwargs.get("training")
        if told is not None and type(told) not in (bool, int):
            return  # a tensor: known when it runs
        held = own(layer)
        if not held.get("rate", held.get("stddev", 1)) or held.get("_trainable") is False:
            return  # it does nothing in either mode
        if is_a(result, private.EAGER_TENSOR):
            node = self._recorder.table.get(result)
            if node is not None:
                node.training = bool(told)
        elif private.is_tensor(result):
            self._recorder.graphs.modes.setdefault(result.graph, {})[key_of(result)] = bool(told)
