"""Twelve layers of sigmoid in front of the action values."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(13)

hidden = [layers.Dense(16, activation="relu") for _ in range(2)]
q_net = keras.Sequential([layers.Input((4,)), layers.Dense(16, "sigmoid"), *hidden, layers.Dense(2)])
optimizer = keras.optimizers.Adam(1e-3)
for update in range(10):
    obs = tf.random.normal((64, 4))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(q_net(obs) - obs[:, :2]))
    gradients = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, q_net.trainable_variables))
print("loss", float(loss))
