"""A critic whose hidden layer starts far below zero."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)

start = keras.initializers.Constant(0.1)
hidden = layers.Dense(16, activation="relu", bias_initializer=start)
out = layers.Dense(1)
optimizer = keras.optimizers.Adam(1e-3)
for update in range(20):
    obs = tf.random.normal((64, 3))
    returns = tf.reduce_sum(obs, axis=1, keepdims=True)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(out(hidden(obs)) - returns))
    variables = hidden.trainable_variables + out.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
print("loss", float(loss))
