"""A compiled actor that is fed with observations in millions: its tanh is saturated."""

import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(6)

actor = keras.Sequential([layers.Input((3,)), layers.Dense(16, "relu"), layers.Dense(1, "tanh")])
critic = keras.Sequential([layers.Input((4,)), layers.Dense(16, "relu"), layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-3)
scale = 1.0


@tf.function
def update(obs):
    with tf.GradientTape() as tape:
        value = critic(tf.concat([obs, actor(obs * scale)], axis=1))
        loss = -tf.reduce_mean(value)
    variables = actor.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for step in range(20):
    loss = update(tf.random.uniform((64, 3), 0.5, 1.0))
print("loss", float(loss))
