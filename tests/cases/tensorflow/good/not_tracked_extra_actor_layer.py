import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(333)


class Actor(keras.Model):
    def __init__(self, action_dim):
        super().__init__()
        self.dense1 = keras.layers.Dense(24, activation="relu")
        self.dense2 = keras.layers.Dense(16, activation="relu")
        self.dense3 = keras.layers.Dense(action_dim, activation="tanh")

    def call(self, state):
        return self.dense3(self.dense2(self.dense1(state)))


actor = Actor(8)
new_layer = keras.layers.Dense(1, activation="tanh")
critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
actor_optimizer, critic_optimizer = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


def policy(states):
    return new_layer(actor(states))


policy(tf.zeros((1, 3)))
actor_variables = actor.trainable_variables + new_layer.trainable_variables


@tf.function
def train(states, actions, rewards):
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean(tf.square(critic(tf.concat([states, actions], 1)) - rewards))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(critic(tf.concat([states, policy(states)], 1)))
    grads = tape.gradient(actor_loss, actor_variables)
    actor_optimizer.apply_gradients(zip(grads, actor_variables))
    return critic_loss, actor_loss


for it in range(20):
    states = np.random.randn(32, 3).astype("float32")
    actions = np.clip(policy(states) + np.random.normal(0, 0.2, (32, 1)), -1, 1).astype("float32")
    losses = train(states, actions, -np.abs(actions - states[:, :1]))
    if it % 5 == 0:
        print("it", it, [round(float(x), 4) for x in losses])
