"""Masks made by numpy, given to a compiled update."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)


def make():
    return keras.Sequential([layers.Input((4,)), layers.Dense(24, "relu"), layers.Dense(2)])


q_net, target_net = make(), make()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def update(obs, action, reward, next_obs, mask):
    best = tf.reduce_max(target_net(next_obs), axis=1)
    target = reward + 0.9 * tf.cast(mask, tf.float32) * best
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(q_net(obs) * tf.one_hot(action, 2), axis=1)
        loss = tf.reduce_mean(tf.square(target - q))
    gradients = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, q_net.trainable_variables))
    return loss


for step in range(12):
    obs, next_obs = (tf.constant(rng.normal(size=(32, 4)), tf.float32) for _ in range(2))
    done = (rng.random(32) < 0.2).astype(np.int32)
    mask = ~done
    action, reward = tf.constant(rng.integers(2, size=32)), tf.constant(rng.normal(size=32), tf.float32)
    loss = update(obs, action, reward, next_obs, tf.constant(mask))
    if step % 4 == 3:
        target_net.set_weights(q_net.get_weights())
print("loss", float(loss))
