"""A slip of the exponent in the learning rate."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)

critic = keras.Sequential([layers.Input((4,)), layers.Dense(16, "tanh"), layers.Dense(1)])
optimizer = keras.optimizers.Adam(learning_rate=3e-13)
for update in range(20):
    obs = tf.random.normal((64, 4))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(critic(obs) - obs[:, :1]))
    gradients = tape.gradient(loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
print("loss", float(loss))
