"""A policy gradient on probabilities; the logarithm of one that is zero."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(7)

policy = keras.Sequential([layers.Input((4,)), layers.Dense(16, "relu"), layers.Dense(3, "softmax")])
optimizer = keras.optimizers.Adam(1e-3)
for update in range(8):
    obs = tf.random.normal((64, 4)) * 2000.0
    action = np.random.randint(0, 3, 64)
    reward = tf.cast(action == 0, tf.float32)
    with tf.GradientTape() as tape:
        chosen = tf.gather(policy(obs), action, axis=1, batch_dims=1)
        log_prob = tf.math.log(chosen + 1e-6)
        loss = -tf.reduce_mean(log_prob * reward)
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
print("loss", float(loss))
