"""A compiled update whose square root has no derivative at zero."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(9)

actor = keras.Sequential([layers.Input((3,)), layers.Dense(2, kernel_initializer="zeros")])
optimizer = keras.optimizers.SGD(1e-2)


@tf.function
def update(goal):
    with tf.GradientTape() as tape:
        move = actor(goal)
        length = tf.sqrt(tf.reduce_sum(tf.square(move), axis=1) + 1e-8)
        loss = tf.reduce_mean(length) + tf.reduce_mean(tf.square(move - goal[:, :2]))
    gradients = tape.gradient(loss, actor.trainable_variables)
    optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
    return loss


for step in range(12):
    loss = update(tf.random.normal((16, 3)))
print("loss", float(loss))
