"""A critic that is fitted with far too large steps of plain SGD, compiled."""

import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(23)

critic = keras.Sequential([layers.Input((4,)), layers.Dense(1)])
obs = tf.random.normal((256, 4)) * tf.constant([3.0, 0.01, 0.01, 0.01])
returns = obs @ tf.constant([[1.0], [2.0], [3.0], [4.0]])
optimizer = keras.optimizers.SGD(0.107)


@tf.function
def update():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(critic(obs) - returns))
    gradients = tape.gradient(loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
    return loss


for step in range(40):
    loss = update()
print("loss", float(loss))
