"""An advantage over a rollout in which episodes end, from plain numbers."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(0)


def advantages(rewards, values, dones, gamma=0.99, lam=0.95):
    found, running = np.zeros(len(rewards), np.float32), 0.0
    for t in reversed(range(len(rewards))):
        mask = 1.0 - dones[t]
        delta = rewards[t] + gamma * values[t + 1] * mask - values[t]
        running = delta + gamma * lam * running
        found[t] = running
    return found


class Agent:
    def __init__(self):
        self.policy = keras.Sequential([keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(2)])
        self.value = keras.Sequential([keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(1)])
        self.policy.build((None, 4))
        self.value.build((None, 4))
        self.optimizer = keras.optimizers.Adam(1e-3)

    def learn(self, states, actions, advantage, returns):
        weights = self.policy.trainable_variables + self.value.trainable_variables
        with tf.GradientTape() as tape:
            log_probs = tf.nn.log_softmax(self.policy(states))
            chosen = tf.gather(log_probs, actions, batch_dims=1)
            value = tf.squeeze(self.value(states), -1)
            loss = -tf.reduce_mean(chosen * advantage) + 0.5 * tf.reduce_mean(tf.square(returns - value))
        gradients = tape.gradient(loss, weights)
        self.optimizer.apply_gradients(zip(gradients, weights))


def main():
    keras.utils.set_random_seed(0)
    agent = Agent()
    for _ in range(10):
        states = rng.normal(size=(33, 4)).astype(np.float32)
        logits, values = agent.policy(states[:32]).numpy(), agent.value(states).numpy()[:, 0]
        actions = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
        rewards = rng.normal(size=32)
        dones = (rng.random(32) < 0.1).astype(np.float32)
        advantage = advantages(rewards, values, dones)
        agent.learn(states[:32], actions, advantage, advantage + values[:32])


main()
