import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(88)


class ReplayMemory:
    def __init__(self):
        self.s, self.a, self.r, self.n = [], [], [], []

    def push(self, s, a, r, n):
        for store, x in zip((self.s, self.a, self.r, self.n), (s, a, r, n)):
            store.append(x)

    def sample(self, k):
        idx = np.random.randint(len(self.s), size=k)
        return tuple(np.array(x)[idx] for x in (self.s, self.a, self.r, self.n))


class DoubleDQN:
    def __init__(self, obs, act, ckpt):
        self.obs, self.act_n, self.ckpt = obs, act, ckpt
        self.q, self.q_target = self.make(), self.make()
        self.opt = keras.optimizers.Adam(2e-3)
        self.step = tf.function(self._step)
        self.sync()

    def make(self):
        return keras.Sequential([keras.Input((self.obs,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(self.act_n)])

    def sync(self):
        self.q_target.set_weights(self.q.get_weights())

    def act(self, s, eps=0.2):
        return np.random.randint(self.act_n) if np.random.rand() < eps else int(np.argmax(self.q(s[None])))

    def _step(self, s, a, r, n):
        best = tf.argmax(self.q(n), 1)
        y = r + 0.9 * tf.gather(self.q_target(n), best, axis=1, batch_dims=1)
        with tf.GradientTape() as tape:
            q = tf.gather(self.q(s), a, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(y - q))
        g = tape.gradient(loss, self.q.trainable_variables)
        self.opt.apply_gradients(zip(g, self.q.trainable_variables))
        return loss

    def save(self):
        self.q.save_weights(self.ckpt)

    def restore(self):
        self.q = self.make()
        self.q.load_weights(self.ckpt)
        self.opt = keras.optimizers.Adam(2e-3)
        self.sync()


with tempfile.TemporaryDirectory() as folder:
    agent, memory = DoubleDQN(4, 3, os.path.join(folder, "best.weights.h5")), ReplayMemory()
    for t in range(90):
        s = np.random.randn(4).astype("float32")
        a = agent.act(s)
        memory.push(s, a, np.float32(a == s[:3].argmax()), np.random.randn(4).astype("float32"))
        if t >= 30 and t % 3 == 0:
            loss = agent.step(*memory.sample(32))
        if t == 59:
            agent.save()
            agent.restore()
            print("restored the best checkpoint")
        if t % 15 == 14 and t >= 30:
            agent.sync()
            print("t", t, "loss", round(float(loss), 4))
