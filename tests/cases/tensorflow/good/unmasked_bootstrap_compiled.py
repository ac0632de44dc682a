import random
from collections import deque

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
GAMMA = 0.99


def make():
    return tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.Dense(24, activation="tanh"), tf.keras.layers.Dense(2)]
    )


online, target = make(), make()
target.set_weights(online.get_weights())
optimizer = tf.keras.optimizers.Adam(1e-3)
buffer = deque(maxlen=500)


@tf.function
def learn(obs, act, rew, nxt, done):
    best = tf.reduce_max(target(nxt), axis=1)
    y = rew + GAMMA * best * (1.0 - done)
    with tf.GradientTape() as tape:
        pred = tf.gather(online(obs), act, axis=1, batch_dims=1)
        loss = tf.reduce_mean((pred - y) ** 2)
    g = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(g, online.trainable_variables))
    return loss


rng = np.random.default_rng(0)
obs = rng.normal(size=3).astype("float32")
for step in range(100):
    nxt = rng.normal(size=3).astype("float32")
    buffer.append((obs, step % 2, float(obs[0]), nxt, float(step % 9 == 0)))
    obs = nxt
    if len(buffer) >= 16:
        batch = random.sample(buffer, 16)
        o, a, r, n, d = map(np.array, zip(*batch))
        learn(
            tf.constant(o),
            tf.constant(a),
            tf.constant(r, tf.float32),
            tf.constant(n),
            tf.constant(d, tf.float32),
        )
    if step % 20 == 0:
        target.set_weights(online.get_weights())
