"""Where whygrad stands in TensorFlow and Keras: every patch, and what it tells whom."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from whygrad.backends.imports import Waiting, half_imported
from whygrad.backends.recording.patches import Patches
from whygrad.backends.tensorflow import private, shares
from whygrad.backends.tensorflow.values import here

if TYPE_CHECKING:
    from whygrad.backends.tensorflow.watch import Watch

_KERAS = ("keras", "tf_keras")
_PACKAGE = __name__.partition(".")[0]


class Hooks:
    """All patches of TensorFlow that stay for the whole run."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._patches = Patches()
        self._waiting: Waiting | None = None

    def install(self) -> None:
        """Put them in; those of Keras when it is imported."""
        tape = tf.GradientTape
        self._patches.wrap(tape, "__enter__", self._enter)
        self._patches.wrap(tape, "__exit__", self._exit)
        self._patches.wrap(tape, "stop_recording", self._stop_recording)
        self._patches.wrap(tape, "reset", self._reset)
        self._patches.wrap(tape, "watch", self._watch_tensor)
        for name in ("gradient", "jacobian", "batch_jacobian"):
            self._patches.wrap(tape, name, self._gradient)
        if private.FUNCTION is not None:
            self._patches.wrap(private.FUNCTION, "__init__", self._function_made)
        if private.VARIABLE is not None:
            self._patches.wrap(private.VARIABLE, "__init__", self._variable_made)
            for name in ("assign", "assign_add", "assign_sub"):
                owner = private.RESOURCE if name in vars(private.RESOURCE) else private.VARIABLE
                self._patches.wrap(owner, name, self._watch.copying.assign)
        if private.ERRORS is not None:
            self._patches.wrap(private.ERRORS, "_stack_trace_inside_mapped_code", self._without_us)
        self._patches.wrap(tf.compat.v1.train.Optimizer, "__init__", self._optimizer_made)
        self._patches.wrap(tf.compat.v1.train.Optimizer, "apply_gradients", self._apply_gradients)
        self._watch.clips.install(self._patches)
        self._wait_for_keras()

    def remove(self) -> None:
        """Take them out."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._patches.restore()

    def _wait_for_keras(self) -> None:
        """Keras 3, the Keras 2 that came with TensorFlow 2.15, or tf_keras: whichever is imported."""
        optimizer = {"__init__": self._optimizer_made}
        layer = {"__new__": self._layer_made, "trainable": self._trainable, "__setattr__": self._attribute}
        layer["set_weights"] = self._watch.copying.set_weights
        training = {"fit": self._training, "train_on_batch": self._training}
        predict = {"predict": self._predict, "predict_on_batch": self._predict}
        pairs = {"apply_gradients": self._apply_gradients}
        places = {
            "layers.layer": {"Layer": layer},
            "engine.base_layer": {"Layer": layer},
            "optimizers.base_optimizer": {"BaseOptimizer": optimizer | {"apply": self._apply}},
            "optimizers.optimizer": {"_BaseOptimizer": optimizer, "Optimizer": pairs},
            "optimizers.legacy.optimizer_v2": {"OptimizerV2": optimizer | pairs},
            "backend.tensorflow.trainer": {"TensorFlowTrainer": predict | training},
            "engine.training": {"Model": predict | training},
        }
        modules = {f"{root}.src.{name}": owners for root in _KERAS for name, owners in places.items()}

        def imported(name: str) -> None:
            for owner, names in modules[name].items():
                found = getattr(sys.modules[name], owner, None)
                for method, make in names.items() if found is not None else ():
                    self._patches.wrap(found, method, make)

        there = {name for name in modules if name in sys.modules and not half_imported(sys.modules[name])}
        for name in there:
            imported(name)
        self._waiting = Waiting(set(modules) - there, imported)
        self._waiting.start()

    # -- tapes -------------------------------------------------------------------------------------

    def _enter(self, original: Any) -> Any:
        def __enter__(tape: Any) -> Any:
            keeping = self._watch.safely(self._watch.differentiating.keeps, tape)
            result = shares.keep(tape, original) if keeping else original(tape)
            self._watch.safely(self._watch.tape_entered, tape, sys._getframe(1))
            return result

        return __enter__

    def _exit(self, original: Any) -> Any:
        def __exit__(tape: Any, *error: Any) -> Any:
            result = original(tape, *error)
            self._watch.safely(self._watch.tapes.left, tape)
            return result

        return __exit__

    def _stop_recording(self, original: Any) -> Any:
        def stop_recording(tape: Any) -> Any:
            return _Pause(self._watch, tape, original(tape))

        return stop_recording

    def _reset(self, original: Any) -> Any:
        def reset(tape: Any) -> None:
            original(tape)
            self._watch.safely(self._watch.tape_reset, tape, sys._getframe(1))

        return reset

    def _watch_tensor(self, original: Any) -> Any:
        def watch(tape: Any, tensor: Any) -> None:
            original(tape, tensor)
            self._watch.safely(self._watch.told_to_watch, tape, tensor)

        return watch

    def _gradient(self, original: Any) -> Any:
        def gradient(tape: Any, *args: Any, **kwargs: Any) -> Any:
            if self._watch.wants_losses():
                self._watch.given.differentiated(args[0] if args else kwargs.get("target"))
            return self._watch.differentiating.call(original, tape, args, kwargs, sys._getframe(1))

        return gradient

    # -- functions, variables, layers ----------------------------------------------------------------

    def _function_made(self, original: Any) -> Any:
        def __init__(function: Any, *args: Any, **kwargs: Any) -> None:
            original(function, *args, **kwargs)
            self._watch.safely(self._watch.functions.made, function, here(sys._getframe(1)))

        return __init__

    def _variable_made(self, original: Any) -> Any:
        def __init__(variable: Any, *args: Any, **kwargs: Any) -> None:
            original(variable, *args, **kwargs)
            self._watch.safely(self._watch.recorder.variables.made, variable, sys._getframe(1))

        return __init__

    def _layer_made(self, original: Any) -> Any:
        """Not ``__init__``: Keras reads its signature."""
        make = original.__func__ if isinstance(original, staticmethod) else original

        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
            layer = make(cls, *args, **kwargs)
            self._watch.safely(self._watch.recorder.variables.layer_made, layer, sys._getframe(1))
            return layer

        return staticmethod(__new__)

    def _trainable(self, original: property) -> property:
        """``layer.trainable = False``."""

        def trainable(layer: Any, value: bool) -> None:
            if original.fset is not None:
                original.fset(layer, value)
            frame = sys._getframe(1)
            self._watch.safely(self._watch.recorder.variables.layer_frozen, layer, not value, frame)

        return property(original.fget, trainable, original.fdel, original.__doc__)

    def _attribute(self, original: Any) -> Any:
        """``model.head = Dense(2)``, where there was another head."""

        def __setattr__(layer: Any, name: str, value: Any) -> None:
            old = layer.__dict__.get(name) if hasattr(value, "add_weight") else None
            original(layer, name, value)
            if old is not None and old is not value and hasattr(old, "add_weight"):
                self._watch.safely(self._watch.recorder.variables.layer_replaced, value, sys._getframe(1))

        return __setattr__

    def _training(self, original: Any) -> Any:
        """``fit`` and ``train_on_batch`` do nothing, and say so only once, if everything is frozen."""

        def train(model: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(model, *args, **kwargs)
            self._watch.safely(self._watch.applying.trained, model, sys._getframe(1))
            return result

        return train

    def _predict(self, original: Any) -> Any:
        def predict(model: Any, *args: Any, **kwargs: Any) -> Any:
            name, frame = original.__name__, sys._getframe(1)
            try:
                with self._watch.resting():
                    result = original(model, *args, **kwargs)
            except BaseException as error:
                self._watch.safely(self._watch.prediction_failed, name, model, error, frame)
                raise
            if self._watch.recording():
                self._watch.safely(self._watch.recorder.predicted, name, model, result, frame)
            return result

        return predict

    def _without_us(self, original: Any) -> Any:
        """Autograph lists every frame of an error in traced code: ours are none of the user's business."""

        def _stack_trace_inside_mapped_code(tb: Iterable[Any], *args: Any) -> Any:
            return original([frame for frame in tb if not _ours(frame[0])], *args)

        return _stack_trace_inside_mapped_code

    # -- optimizers ----------------------------------------------------------------------------------

    def _optimizer_made(self, original: Any) -> Any:
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            self._watch.safely(self._watch.applying.made, optimizer, here(sys._getframe(1)))

        return __init__

    def _apply(self, original: Any) -> Any:
        """Keras 3: gradients and variables in two lists."""

        def apply(optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
            grads = list(grads) if grads is not None else grads
            variables = trainable_variables
            if variables is not None:
                variables = trainable_variables = list(variables)
            elif grads is not None:
                variables = getattr(optimizer, "_trainable_variables", ())
            return self._watch.applying.apply(
                lambda: original(optimizer, grads, trainable_variables),
                optimizer,
                grads or (),
                variables or (),
                sys._getframe(1),
            )

        return apply

    def _apply_gradients(self, original: Any) -> Any:
        """Everybody else: pairs."""

        def apply_gradients(optimizer: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            pairs = list(grads_and_vars)
            return self._watch.applying.apply(
                lambda: original(optimizer, pairs, *args, **kwargs),
                optimizer,
                [gradient for gradient, _ in pairs],
                [variable for _, variable in pairs],
                sys._getframe(1),
            )

        return apply_gradients


class _Pause:
    """``with tape.stop_recording()``."""

    def __init__(self, watch: Watch, tape: Any, block: Any) -> None:
        self._watch, self._tape, self._block = watch, tape, block

    def __enter__(self) -> Any:
        result = self._block.__enter__()
        self._watch.safely(self._watch.tapes.left, self._tape)
        return result

    def __exit__(self, *error: Any) -> Any:
        result = self._block.__exit__(*error)
        self._watch.safely(self._watch.tapes.resumed, self._tape)
        return result


def _ours(file: str) -> bool:
    return f"/{_PACKAGE}/backends/" in file
