"""Categorical DQN with the atoms in a dimension of their own."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
ACTIONS, ATOMS = 2, 11
Z = tf.linspace(-5.0, 5.0, ATOMS)


def make():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((4,)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(ACTIONS * ATOMS),
            tf.keras.layers.Reshape((ACTIONS, ATOMS)),
        ]
    )


net, target = make(), make()
target.set_weights(net.get_weights())
opt = tf.keras.optimizers.Adam(1e-3)


def project(p, r, d):
    tz = tf.clip_by_value(r[:, None] + 0.99 * (1 - d[:, None]) * Z[None], -5.0, 5.0)
    b = tz + 5.0
    w = tf.clip_by_value(1 - tf.abs(b[:, None, :] - tf.range(ATOMS, dtype=tf.float32)[None, :, None]), 0, 1)
    return tf.reduce_sum(w * p[:, None, :], axis=2)


rng = np.random.default_rng(0)
for i in range(20):
    s = rng.normal(size=(16, 4)).astype("float32")
    a = rng.integers(0, 2, 16)
    r = rng.normal(size=16).astype("float32")
    d = (rng.random(16) < 0.1).astype("float32")
    nxt = tf.nn.softmax(target(s + 0.1), axis=2)
    best = tf.argmax(tf.reduce_sum(nxt * Z, axis=2), axis=1)
    m = project(tf.gather(nxt, best, axis=1, batch_dims=1), r, d)
    with tf.GradientTape() as tape:
        chosen = tf.gather(net(s), a, axis=1, batch_dims=1)
        loss = -tf.reduce_mean(tf.reduce_sum(m * tf.nn.log_softmax(chosen, axis=1), axis=1))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    if i % 10 == 0:
        target.set_weights(net.get_weights())
