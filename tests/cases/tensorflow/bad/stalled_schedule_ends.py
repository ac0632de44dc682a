"""A learning rate that decays to 0."""

import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)

q_net = keras.Sequential([layers.Input((4,)), layers.Dense(32, "relu"), layers.Dense(2)])
rate = keras.optimizers.schedules.PolynomialDecay(1e-3, decay_steps=40, end_learning_rate=0.0)
optimizer = keras.optimizers.Adam(rate)


@tf.function
def update(obs):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(q_net(obs) - obs[:, :2]))
    gradients = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, q_net.trainable_variables))
    return loss


for step in range(400):
    loss = update(tf.random.normal((32, 4)))
print("loss", float(loss))
