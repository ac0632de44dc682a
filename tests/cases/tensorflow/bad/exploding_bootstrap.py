"""Q-learning that chases its own estimate with a discount above one, compiled."""

import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(19)

q_net = keras.Sequential([layers.Input((4,)), layers.Dense(64, "relu"), layers.Dense(2)])
optimizer = keras.optimizers.Adam(3e-3)
gamma = 1.99


@tf.function
def update(obs, action, reward, next_obs):
    target = reward + gamma * tf.reduce_max(q_net(next_obs), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(obs), action, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(q - target))
    gradients = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, q_net.trainable_variables))
    return loss


for step in range(1500):
    action = tf.random.uniform((32,), 0, 2, tf.int32)
    loss = update(tf.random.normal((32, 4)), action, tf.random.uniform((32,)), tf.random.normal((32, 4)))
print("loss", float(loss))
