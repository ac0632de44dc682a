import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


def build():
    return keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)]
    )


shared, local = build(), build()
opt = keras.optimizers.RMSprop(1e-3)
rng = np.random.default_rng(0)
for step in range(40):
    local.set_weights(shared.get_weights())
    s = rng.normal(size=(16, 4)).astype("float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(local(s)[:, 0] - 9 * s[:, 0]))
    grads = tape.gradient(loss, local.trainable_variables)
    clipped, norm = tf.clip_by_global_norm(grads, 2.0)
    opt.apply_gradients(zip(grads, shared.trainable_variables))
