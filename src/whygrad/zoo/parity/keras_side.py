"""Loss and gradients in Keras (on TensorFlow): of the converted network, or of somebody's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from whygrad.zoo.parity.case import INFERENCE, MOVING, TRAINING, Arrays, Batch, Case, Key, Outcome
from whygrad.zoo.parity.dropping import Masks
from whygrad.zoo.parity.pairing import Found, pair
from whygrad.zoo.parity.setup import Setup, network_of, unbiased
from whygrad.zoo.parity.theirs import Script, call_theirs
from whygrad.zoo.tfjs import keras_models
from whygrad.zoo.tfjs.network import Model, ModelError


class KerasSide:
    """Two networks, where their variables are, and how they are used."""

    framework = "keras"
    modes: tuple[str, ...] = (INFERENCE, TRAINING)

    def __init__(self, case: Case, setup: Setup | None = None):
        if keras.backend.backend() != "tensorflow":
            raise ModelError(f"Keras runs on {keras.backend.backend()}; set KERAS_BACKEND=tensorflow")
        self.case, self.setup = case, setup or Setup()
        self.model = network_of(case.online, self.setup)
        self.online = keras_models.build(self.model)
        self.target = None if case.target is None else keras_models.build(network_of(case.target, self.setup))
        self.variables = keras_models.variables(self.online)
        self.loss: Callable[[bool], Any] = self._own_loss
        self.masks = Masks(case.batch, self.setup.dropout)
        if self.setup.moving_norm:
            _force(self.online, keras.layers.BatchNormalization, False)
        if self.setup.training_target == "norm":
            _force(self.target, keras.layers.Dropout, False)

    def outcome(self, mode: str) -> Outcome:
        """One forward and one backward pass; everything is as before afterwards."""
        before, training = self.read(), mode == TRAINING
        with fixed_dropout(self.masks), tf.GradientTape() as tape:
            loss = self.loss(training)
        learning = {key: v for key, v in self.variables.items() if key[1] not in MOVING}
        got = tape.gradient(loss, [v.value for v in learning.values()])
        gradients = {
            key: np.zeros(v.shape, np.float32) if g is None else tf.convert_to_tensor(g).numpy()
            for (key, v), g in zip(learning.items(), got, strict=True)
        }
        after = self.read() if training else {}
        moving: Arrays = {key: array for key, array in after.items() if key[1] in MOVING}
        if self.setup.unbiased:
            moving = unbiased(moving, before, self.model, len(self.case.batch.states))
        self.write(before)
        return Outcome(float(loss), gradients, moving, self._outputs() if mode == INFERENCE else None)

    def read(self) -> dict[Key, np.ndarray]:
        """The weights."""
        return {key: np.array(v.numpy()) for key, v in self.variables.items()}

    def write(self, arrays: Arrays) -> None:
        """Set the weights."""
        for key, variable in self.variables.items():
            variable.assign(arrays[key])

    def optimize(self, make: Callable[[Any], Any] | None, steps: list[Arrays]) -> list[Arrays]:
        """The weights after each step of an optimizer that is fed these gradients."""
        optimizer = make(self.online) if make else paper_adam()
        after: list[Arrays] = []
        for gradients in steps:
            keys = list(gradients)
            optimizer.apply(
                [tf.constant(gradients[key]) for key in keys], [self.variables[key] for key in keys]
            )
            after.append(self.read())
        return after

    def _outputs(self) -> np.ndarray:
        return np.array(self.online(self.case.batch.states, training=False))

    def _own_loss(self, training: bool) -> Any:
        return loss(self.setup, self.online, self.target, self.case.batch, training)


def loss(setup: Setup, online: Any, target: Any, batch: Batch, training: bool) -> Any:
    """The loss of a DQN; or, without actions, of a regression."""
    states, next_states = (_states(setup, array) for array in (batch.states, batch.next_states))
    q = online(states, training=training)
    if batch.actions is None:
        return _reduce(setup, q - batch.goals)
    assert batch.dones is not None
    if setup.bootstrap == "target":
        next_q = target(next_states, training=bool(setup.training_target))
    else:
        next_q = online(next_states, training=training)
    best = tf.reduce_mean(next_q, axis=-1) if setup.best == "mean" else tf.reduce_max(next_q, axis=-1)
    if setup.double:
        best = tf.gather(next_q, tf.argmax(online(next_states, training=training), axis=-1), batch_dims=1)
    gamma = batch.gamma if setup.gamma is None else setup.gamma
    goal = batch.rewards + gamma * best * (1 - batch.dones if setup.masked else 1)
    goal = goal if setup.bootstrap == "leak" else tf.stop_gradient(goal)
    return _reduce(setup, goal - tf.gather(q, batch.actions, batch_dims=1), q.shape[1])


def _states(setup: Setup, array: np.ndarray | None) -> Any:
    return array if array is None or not setup.swapped_channels else array[..., ::-1]


def _reduce(setup: Setup, error: Any, actions: int = 1) -> Any:
    size = tf.abs(error)
    losses = {"square": error**2, "huber": tf.where(size < 1, error**2 / 2, size - 0.5), "absolute": size}[
        setup.loss
    ]
    mean = tf.reduce_mean(losses)
    return {"mean": mean, "sum": tf.reduce_sum(losses), "half": mean / 2, "actions": mean / actions}[
        setup.reduction
    ]


def _force(model: Any, kind: Any, training: bool) -> None:
    """Layers of this kind run in this mode, whatever mode they are called in."""
    for layer in model.layers:
        if isinstance(layer, kind):
            layer.call = functools.partial(_call_in, layer.call, training)


def _call_in(call: Callable[..., Any], mode: bool, inputs: Any, **options: Any) -> Any:
    return call(inputs, **{**options, "training": mode})


def paper_adam() -> Any:
    """Adam with epsilon after the bias correction, as TensorFlow.js has it and Keras has not."""

    class PaperAdam(keras.optimizers.Adam):
        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            step = tf.cast(self.iterations + 1, tf.float32)
            index = self._get_variable_index(variable)
            m, v = self._momentums[index], self._velocities[index]
            m.assign_add((gradient - m) * (1 - self.beta_1))
            v.assign_add((tf.square(gradient) - v) * (1 - self.beta_2))
            deviation = tf.sqrt(v / (1 - self.beta_2**step))
            variable.assign_sub(learning_rate * m / (1 - self.beta_1**step) / (deviation + self.epsilon))

    return PaperAdam(1e-3, epsilon=1e-7)


@contextmanager
def fixed_dropout(masks: Masks) -> Iterator[None]:
    """While this lasts, dropout layers multiply with the given masks."""
    real = keras.layers.Dropout.call

    def call(self: Any, inputs: Any, training: Any = False) -> Any:
        return inputs * masks.mask(tuple(inputs.shape), self.rate) if training and self.rate > 0 else inputs

    keras.layers.Dropout.call = call
    try:
        yield
    finally:
        keras.layers.Dropout.call = real


class TheirKeras(KerasSide):
    """Somebody's own model: it gets the weights of the reference, and its own loss if the script has one."""

    def __init__(self, case: Case, script: Script, fill: bool = True):
        self.case, self.setup, self.model, self.script = case, Setup(), case.online, script
        self.fill = fill
        self.online, self.target = (
            script.model,
            None if case.target is None else call_theirs(script.make_model),
        )
        self.masks = Masks(case.batch)
        self.variables = self._fill(self.online, case.online)
        if case.target is not None:
            self._fill(self.target, case.target)
        self.loss = self._their_loss if script.loss else self._own_loss
        if script.loss and not script.loss_takes_mode:
            self.modes = (TRAINING,)

    def _fill(self, theirs: Any, model: Model) -> dict[Key, Any]:
        call_theirs(lambda: theirs(self.case.batch.states[:1], training=False))  # builds it
        variables = pair(model.network, _layers(theirs), lambda layer, weight, v: v.shape)
        if not self.fill:
            return variables
        if self.script.load_weights:
            call_theirs(self.script.load_weights, theirs, model.named_weights())
        else:
            for key, variable in variables.items():
                variable.assign(model.weights[key])
        return variables

    def _their_loss(self, training: bool) -> Any:
        batch = self.script.batch_of(self.case.batch, tf.constant, tf.constant)
        more = (training,) if self.script.loss_takes_mode else ()
        assert self.script.loss is not None
        value = call_theirs(self.script.loss, self.online, self.target, batch, *more)
        if not tf.is_tensor(value) or tf.size(value) != 1:
            raise ModelError(
                "your loss is not one number made by TensorFlow: run whygrad run on your script to see why"
            )
        return tf.reshape(value, ())


def _layers(model: Any) -> list[Found]:
    found = []
    for layer in model._flatten_layers(include_self=False, recursive=True):
        if layer.weights and not layer._layers:
            weights = {v.name: v for v in layer.weights}
            if isinstance(layer, keras.layers.DepthwiseConv2D):
                weights["depthwise_kernel"] = weights.pop("kernel")
            found.append(Found(f"{type(layer).__name__} ({layer.name})", weights))
    return found
