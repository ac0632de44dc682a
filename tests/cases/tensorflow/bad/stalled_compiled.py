"""A slip of the exponent in the learning rate of a compiled update."""

import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)

q_net = keras.Sequential([layers.Input((4,)), layers.Dense(32, "relu"), layers.Dense(2)])
optimizer = keras.optimizers.Adam(3e-12)


@tf.function
def update(obs):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(q_net(obs) - obs[:, :2]))
    gradients = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, q_net.trainable_variables))
    return loss


for step in range(30):
    loss = update(tf.random.normal((32, 4)))
print("loss", float(loss))
