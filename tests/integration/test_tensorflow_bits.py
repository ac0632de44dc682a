"""Compiled TensorFlow rounds as it does without us: what reads a gradient keeps nothing from being merged."""

import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.forked("tensorflow")]

SCRIPT = """
import keras, tensorflow as tf

keras.utils.set_random_seed(316)
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "elu"), keras.layers.Dense(2)])
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)

@tf.function
def update(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
    gradients = tape.gradient(loss, net.trainable_variables)
    CLIP
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return loss

for n in range(30):
    update(tf.random.normal((6, 4)), tf.random.normal((6, 2)))
    for variable in (*net.variables, *optimizer.variables):
        print(n, variable.path, variable.numpy().tobytes().hex())
"""
CLIPS = {
    "none": "",
    "norm": "gradients, _ = tf.clip_by_global_norm(gradients, 0.05)",
    "factor": "gradients = [0.3 * (0.7 * g) + 0.1 * v for g, v in zip(gradients, net.trainable_variables)]",
}


@pytest.mark.parametrize("watch", [False, True], ids=["run", "watch"])
@pytest.mark.parametrize("clip", CLIPS)
def test_the_bits_are_those_of_the_program_alone(lab, clip, watch):
    lab.write(SCRIPT.replace("CLIP", CLIPS[clip]))
    alone = lab.python("train.py")
    assert alone.code == 0, alone.stderr[-3000:]
    watched = lab.whygrad("run", "--quiet", *(["--watch", "--every", "1"] if watch else []), "train.py")
    assert watched.stdout == alone.stdout
