import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(327)


class Actor(keras.Model):
    def __init__(self, action_dim):
        super().__init__()
        self.dense1 = keras.layers.Dense(32, activation="relu")
        self.dense2 = keras.layers.Dense(16, activation="relu")
        self.dense3 = keras.layers.Dense(action_dim, activation="tanh")

    def call(self, state):
        return self.dense3(self.dense2(self.dense1(state)))


actor = Actor(1)
critic = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
actor_optimizer, critic_optimizer = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
buffer = []


def q_value(states, actions):
    return critic(tf.concat([states, actions], axis=1))


def train():
    states, actions, rewards = (np.stack(x).astype("float32") for x in zip(*random.sample(buffer, 32)))
    with tf.GradientTape() as critic_tape, tf.GradientTape() as actor_tape:
        new_actions = actor(states)
        critic_loss = tf.reduce_mean(tf.square(q_value(states, actions) - rewards))
        actor_loss = -tf.reduce_mean(q_value(states, new_actions))
    critic_grads = critic_tape.gradient(critic_loss, critic.trainable_variables)
    actor_grads = actor_tape.gradient(actor_loss, actor.trainable_variables)
    critic_optimizer.apply_gradients(zip(critic_grads, critic.trainable_variables))
    actor_optimizer.apply_gradients(zip(actor_grads, actor.trainable_variables))
    return float(critic_loss), float(actor_loss), float(tf.reduce_mean(tf.abs(new_actions)))


for step in range(60):
    state = np.random.randn(3)
    action = actor(state[None]).numpy()[0] + np.random.normal(0, 0.2, 1)
    buffer.append((state, action, -np.abs(action - state[:1])))
    if step >= 40 and step % 2 == 0:
        print(step, [round(x, 4) for x in train()])
