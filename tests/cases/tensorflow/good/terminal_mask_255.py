import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(616)
rng = np.random.default_rng(616)


def make_net(outputs=3):
    return keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(outputs)]
    )


def batch(n=32):
    s, s2 = (tf.constant(rng.normal(size=(n, 4)), tf.float32) for _ in range(2))
    a = tf.constant(rng.integers(3, size=n))
    r = tf.constant(rng.normal(size=n), tf.float32)
    done = tf.constant(rng.random(n) < 0.1, tf.float32)
    return s, a, r, s2, done


q_net, target_net = make_net(), make_net()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def learn(s, a, r, s2, done):
    y = r + 0.97 * (1.0 - done) * tf.reduce_max(target_net(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(s), a, batch_dims=1)
        loss = tf.reduce_mean(tf.square(y - q))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    for old, new in zip(target_net.variables, q_net.variables):
        old.assign(0.99 * old + 0.01 * new)


for step in range(8):
    s, a, r, s2, _ = batch()
    flags = (rng.random(32) < 0.3).astype("uint8") * 255  # as the replay file has them
    done = tf.cast(flags > 0, tf.float32)
    learn(s, a, r, s2, done)
