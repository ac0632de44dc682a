"""What leaves a compiled update: each gradient once, whoever wants it."""

import pytest

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

from whygrad.frameworks.protocol import Setup  # noqa: E402
from whygrad.frameworks.tensorflow import private  # noqa: E402
from whygrad.frameworks.tensorflow.backend import TensorFlowBackend  # noqa: E402


def trained(clip_before=None, calls=4):
    """A network behind a condition that is false, under an optimizer that clips; what was recorded, and the graph."""
    keras.utils.set_random_seed(0)
    backend = TensorFlowBackend()
    backend.attach(Setup(dict))
    try:
        actor, critic = keras.layers.Dense(2), keras.layers.Dense(1)
        optimizer = keras.optimizers.Adam(1e-3, clipnorm=1e-4)

        @tf.function
        def update(x, on):
            with tf.GradientTape() as tape:
                extra = tf.cond(on, lambda: tf.reduce_mean(actor(x) ** 2), lambda: tf.constant(0.0))
                loss = tf.reduce_mean(critic(x) ** 2) + extra
            variables = [*actor.trainable_variables, *critic.trainable_variables]
            gradients = tape.gradient(loss, variables)
            if clip_before is not None:
                gradients, _ = tf.clip_by_global_norm(gradients, clip_before)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))

        x = tf.ones((4, 3))
        actor(x), critic(x)
        optimizer.build([*actor.trainable_variables, *critic.trainable_variables])  # else it is traced twice
        for _ in range(calls):
            update(x, tf.constant(False))
        observed = backend.observe()
    finally:
        backend.detach()
    assert [note.text for note in observed.notes if note.kind == "internal"] == []
    (graph,) = {function.graph for function in update._list_all_concrete_functions()}
    return observed.evidence, [op.type for op in graph.get_operations()]


def zeros(evidence):
    """The shapes of parameters whose gradient was exactly zero in all updates."""
    zero = frozenset.intersection(*(update.zero for update in evidence.updates))
    return {evidence.parameters[key].shape for key in zero}


def test_zeros_and_the_optimizers_own_clip_are_read_from_one_parcel():
    evidence, operations = trained()
    assert operations.count("OptionalFromValue") == 1
    assert zeros(evidence) == {(3, 2), (2,)}
    (clip,) = evidence.clips
    assert clip.threshold == 1e-4 and clip.before > clip.threshold


def test_what_a_clip_is_given_leaves_by_itself():
    evidence, operations = trained(clip_before=5e-3)
    assert operations.count("OptionalFromValue") == 2
    first, own = sorted(evidence.clips, key=lambda clip: -clip.threshold)
    assert first.before > own.before == pytest.approx(first.threshold, rel=0.5)


def test_on_other_devices_each_tensor_leaves_alone(monkeypatch):
    alone, _ = trained()
    monkeypatch.setattr(private, "only_cpu", lambda: False)
    evidence, operations = trained()
    assert "OptionalFromValue" not in operations
    assert zeros(evidence) == zeros(alone)
    assert [clip.before for clip in evidence.clips] == [clip.before for clip in alone.clips]
