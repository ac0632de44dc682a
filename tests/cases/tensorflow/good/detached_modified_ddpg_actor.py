import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(301)


class Actor(keras.Model):
    def __init__(self, action_dim):
        super().__init__()
        self.dense1 = layers.Dense(32, activation="relu")
        self.dense2 = layers.Dense(16, activation="relu")
        self.dense3 = layers.Dense(action_dim, activation="tanh")

    def call(self, state):
        return self.dense3(self.dense2(self.dense1(state)))


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(32, activation="relu")
        self.out = layers.Dense(1)

    def call(self, inputs):
        state, action = inputs
        return self.out(self.hidden(ops.concatenate([state, action], axis=1)))


actor, critic = Actor(2), Critic()
actor_optimizer = keras.optimizers.Adam(1e-3)
critic_optimizer = keras.optimizers.Adam(3e-3)

for step in range(10):
    states = np.random.randn(32, 3).astype("float32")
    taken = np.random.uniform(-1, 1, (32, 2)).astype("float32")
    rewards = -np.sum((taken - np.tanh(states[:, :2])) ** 2, axis=1, keepdims=True)

    with tf.GradientTape() as tape:
        critic_loss = ops.mean(ops.square(critic([states, taken]) - rewards))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(grads, critic.trainable_variables))

    with tf.GradientTape() as tape:
        actions = actor(states)
        actor_loss = -ops.mean(critic([states, actions]))
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_optimizer.apply_gradients(zip(grads, actor.trainable_variables))
    print(f"step {step} critic {float(critic_loss):.4f} actor {float(actor_loss):.4f}")
