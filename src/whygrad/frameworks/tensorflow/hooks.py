"""Where whygrad stands in TensorFlow and Keras: what stays for the whole run, and whom it tells."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import FrameType
from typing import Any, Protocol

import tensorflow as tf

from whygrad.doors import door
from whygrad.frameworks.imports import Waiting, half_imported
from whygrad.frameworks.shared.objects import own, shown, shows
from whygrad.frameworks.shared.patches import Patches, afterwards
from whygrad.frameworks.tensorflow import private
from whygrad.frameworks.tensorflow.clipping import Clips
from whygrad.frameworks.tensorflow.copying import Copying
from whygrad.frameworks.tensorflow.functions import Functions
from whygrad.frameworks.tensorflow.ports import Listener
from whygrad.frameworks.tensorflow.recorder import Recorder
from whygrad.frameworks.tensorflow.stepping import Applying
from whygrad.frameworks.tensorflow.tape_hooks import TapeHooks
from whygrad.frameworks.tensorflow.training_modes import LAYERS, TrainingModes
from whygrad.frameworks.tensorflow.values import here

_KERAS = ("keras", "tf_keras")
_PACKAGE = __name__.partition(".")[0]


class _Observer(Listener, Protocol):
    def prediction_failed(self, name: str, model: Any, error: BaseException, frame: FrameType) -> None: ...


class Hooks:
    """All patches of TensorFlow that stay for the whole run."""

    def __init__(
        self,
        observer: _Observer,
        recorder: Recorder,
        tapes: TapeHooks,
        functions: Functions,
        applying: Applying,
        clips: Clips,
        copying: Copying,
    ) -> None:
        self._observer, self._recorder, self._tapes, self._functions = observer, recorder, tapes, functions
        self._applying, self._clips, self._copying = applying, clips, copying
        self._modes = TrainingModes(observer, recorder)
        self._patches = Patches()
        self._waiting: Waiting | None = None

    def install(self) -> None:
        """Put them in; those of Keras when it is imported."""
        self._tapes.install(self._patches)
        if private.FUNCTION is not None:
            self._patches.wrap(private.FUNCTION, "__init__", self._after(self._function_made))
        if private.VARIABLE is not None:
            self._patches.wrap(private.VARIABLE, "__init__", self._after(self._recorder.variables.made))
            for name in ("assign", "assign_add", "assign_sub"):
                owner = private.RESOURCE if name in vars(private.RESOURCE) else private.VARIABLE
                self._patches.wrap(owner, name, self._copying.assign)
        if private.ERRORS is not None:
            self._patches.wrap(private.ERRORS, "_stack_trace_inside_mapped_code", self._without_us)
        self._patches.wrap(tf.compat.v1.train.Optimizer, "__init__", self._after(self._optimizer_made))
        self._patches.wrap(tf.compat.v1.train.Optimizer, "apply_gradients", self._apply_gradients)
        self._clips.install(self._patches)
        self._wait_for_keras()

    def remove(self) -> None:
        """Take them out."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._patches.restore()

    def _wait_for_keras(self) -> None:
        """Keras 3, the Keras 2 that came with TensorFlow 2.15, or tf_keras: whichever is imported."""
        optimizer = {"__init__": self._after(self._optimizer_made)}
        layer = {"__new__": self._layer_made, "trainable": self._trainable, "__setattr__": self._attribute}
        layer["set_weights"] = self._copying.set_weights
        # They do nothing, and say so only once, if everything is frozen.
        training = dict.fromkeys(("fit", "train_on_batch"), self._after(self._applying.trained))
        predict = {"predict": self._predict, "predict_on_batch": self._predict}
        pairs = {"apply_gradients": self._apply_gradients}
        places: dict[str, dict[str, Mapping[str, Callable[[Any], Any]]]] = {
            "layers.layer": {"Layer": layer},
            "engine.base_layer": {"Layer": layer},
            "optimizers.base_optimizer": {"BaseOptimizer": optimizer | {"apply": self._apply}},
            "optimizers.optimizer": {"_BaseOptimizer": optimizer, "Optimizer": pairs},
            "optimizers.legacy.optimizer_v2": {"OptimizerV2": optimizer | pairs},
            "backend.tensorflow.trainer": {"TensorFlowTrainer": predict | training},
            "engine.training": {"Model": predict | training},
        }
        modal = {"call": self._modes.call}
        places |= {name: dict.fromkeys(owners, modal) for name, owners in LAYERS.items()}
        modules = {f"{root}.src.{name}": owners for root in _KERAS for name, owners in places.items()}

        def imported(name: str) -> None:
            if name.startswith("keras.") and private.keras_backend() != "tensorflow":
                return  # it trains with another framework
            for owner, names in modules[name].items():
                found = getattr(sys.modules[name], owner, None)
                for method, make in names.items() if found is not None else ():
                    self._patches.wrap(found, method, make)

        there = {name for name in modules if name in sys.modules and not half_imported(sys.modules[name])}
        for name in there:
            imported(name)
        self._waiting = Waiting(set(modules) - there, imported, self._lost)
        self._waiting.start()

    def _after(self, note: Callable[[Any, FrameType], object]) -> Callable[[Any], Any]:
        return afterwards(partial(self._observer.safely, note), self._observer.stepped_aside)

    def _lost(self, name: str, error: Exception) -> None:
        self._observer.stepped_aside(error)

    # -- functions, variables, layers ----------------------------------------------------------------

    def _function_made(self, function: Any, frame: FrameType) -> None:
        self._functions.made(function, here(frame))

    def _layer_made(self, original: Any) -> Any:
        """Not ``__init__``: Keras reads its signature."""
        make = original.__func__ if isinstance(original, staticmethod) else original

        @door
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
            layer = make(cls, *args, **kwargs)
            try:
                self._observer.safely(self._recorder.variables.layer_made, layer, sys._getframe(1))
            except Exception as ours:
                self._observer.stepped_aside(ours)
            return layer

        return staticmethod(__new__)

    def _trainable(self, original: property) -> property:
        """``layer.trainable = False``."""

        @door
        def trainable(layer: Any, value: bool) -> None:
            if original.fset is not None:
                original.fset(layer, value)
            frame = sys._getframe(1)
            try:
                self._observer.safely(self._recorder.variables.layer_frozen, layer, not value, frame)
            except Exception as ours:
                self._observer.stepped_aside(ours)

        return property(original.fget, trainable, original.fdel, original.__doc__)

    def _attribute(self, original: Any) -> Any:
        """``model.head = Dense(2)``, where there was another head."""

        @door
        def __setattr__(layer: Any, name: str, value: Any) -> None:
            old = None
            try:
                old = own(layer).get(name) if shows(value, "add_weight") else None
            except Exception as ours:
                self._observer.stepped_aside(ours)
            original(layer, name, value)
            try:
                if old is not None and old is not value and shows(old, "add_weight"):
                    self._observer.safely(self._recorder.variables.layer_replaced, value, sys._getframe(1))
            except Exception as ours:
                self._observer.stepped_aside(ours)

        return __setattr__

    def _predict(self, original: Any) -> Any:
        @door
        def predict(model: Any, *args: Any, **kwargs: Any) -> Any:
            name, frame, here = original.__name__, sys._getframe(1), self._observer.thread
            here.resting += 1
            try:
                result = original(model, *args, **kwargs)
            except BaseException as error:
                try:
                    self._observer.safely(self._observer.prediction_failed, name, model, error, frame)
                except Exception as ours:
                    self._observer.stepped_aside(ours)
                raise
            finally:
                here.resting -= 1
            try:
                if self._observer.recording():
                    self._observer.safely(self._recorder.predicted, name, model, result, frame)
            except Exception as ours:
                self._observer.stepped_aside(ours)
            return result

        return predict

    def _without_us(self, original: Any) -> Any:
        """Autograph lists every frame of an error in traced code: ours are none of the user's business."""

        @door
        def _stack_trace_inside_mapped_code(tb: Iterable[Any], *args: Any) -> Any:
            try:
                tb = [frame for frame in tb if not _ours(frame[0])]
            except Exception as ours:
                self._observer.stepped_aside(ours)
            return original(tb, *args)

        return _stack_trace_inside_mapped_code

    # -- optimizers ----------------------------------------------------------------------------------

    def _optimizer_made(self, optimizer: Any, frame: FrameType) -> None:
        self._applying.made(optimizer, here(frame))

    def _apply(self, original: Any) -> Any:
        """Keras 3: gradients and variables in two lists."""

        @door
        def apply(optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
            grads = list(grads) if grads is not None else grads
            if trainable_variables is not None:
                trainable_variables = list(trainable_variables)
            observer, applied = self._observer, None
            try:
                variables = trainable_variables
                if variables is None and grads is not None:
                    variables = shown(optimizer, "_trainable_variables", ())
                applied = self._applying.begins(optimizer, grads or (), variables or (), sys._getframe(1))
            except Exception as ours:
                observer.stepped_aside(ours)
            observer.thread.resting += 1
            try:
                result = original(optimizer, grads, trainable_variables)
            finally:
                observer.thread.resting -= 1
            try:
                if applied is not None:
                    self._applying.ends(applied)
            except Exception as ours:
                observer.stepped_aside(ours)
            return result

        return apply

    def _apply_gradients(self, original: Any) -> Any:
        """Everybody else: pairs."""

        @door
        def apply_gradients(optimizer: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            pairs = list(grads_and_vars)
            observer, applied = self._observer, None
            try:
                gradients, variables = [g for g, _ in pairs], [v for _, v in pairs]
                applied = self._applying.begins(optimizer, gradients, variables, sys._getframe(1))
            except Exception as ours:
                observer.stepped_aside(ours)
            observer.thread.resting += 1
            try:
                result = original(optimizer, pairs, *args, **kwargs)
            finally:
                observer.thread.resting -= 1
            try:
                if applied is not None:
                    self._applying.ends(applied)
            except Exception as ours:
                observer.stepped_aside(ours)
            return result

        return apply_gradients


def _ours(file: str) -> bool:
    return f"/{_PACKAGE}/frameworks/" in file
