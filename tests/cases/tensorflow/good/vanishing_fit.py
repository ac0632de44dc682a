"""Twelve layers of sigmoid in front of the action values, trained by fit."""

import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(13)

hidden = [layers.Dense(16, activation="relu") for _ in range(2)]
q_net = keras.Sequential([layers.Input((4,)), layers.Dense(16, "sigmoid"), *hidden, layers.Dense(2)])
q_net.compile(keras.optimizers.Adam(1e-3), "mse")
obs = tf.random.normal((640, 4))
q_net.fit(obs, obs[:, :2], batch_size=32, verbose=0)
print("loss", q_net.evaluate(obs, obs[:, :2], verbose=0))
