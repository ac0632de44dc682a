"""Double DQN in numpy, train step with a tape in a method; sync reversed or never."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Model, optimizers


class QNet(Model):
    def __init__(self, n):
        super().__init__()
        self.d1 = layers.Dense(32, activation="relu")
        self.out = layers.Dense(n)

    def call(self, x):
        return self.out(self.d1(x))


class Agent:
    def __init__(self, n_actions=3):
        self.online = QNet(n_actions)
        self.target = QNet(n_actions)
        self.online.build((None, 4))
        self.target.build((None, 4))
        self.optimizer = optimizers.Adam(1e-3)
        self.n = n_actions
        self.t = 0

    def compute_target(self, r, s2, d):
        best = np.argmax(self.online(s2).numpy(), axis=1)
        q2 = self.target(s2).numpy()
        q2 = q2[np.arange(len(r)), best]
        return r + 0.98 * (1 - d) * q2

    def learn(self, s, a, r, s2, d):
        y = self.compute_target(r, s2, d)
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(self.online(s) * tf.one_hot(a, self.n), axis=-1)
            loss = tf.keras.losses.MSE(y, q)
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.online.trainable_variables))
        self.t += 1
        if self.t % 10 == 0:
            self.online.set_weights(self.target.get_weights())


def main():
    rng = np.random.default_rng(0)
    agent = Agent()
    for _ in range(40):
        s, s2 = rng.normal(size=(2, 16, 4)).astype("float32")
        agent.learn(
            s,
            rng.integers(0, 3, 16),
            rng.normal(size=16).astype("float32"),
            s2,
            (rng.random(16) < 0.1).astype("float32"),
        )


main()
