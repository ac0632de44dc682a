import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
from collections import deque

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

random.seed(5)
np.random.seed(5)
tf.random.set_seed(5)
N_STATE, N_ACT = 6, 3


class NoisyDense(layers.Layer):
    def __init__(self, units, sigma0=0.5, **kwargs):
        super().__init__(**kwargs)
        self.units, self.sigma0 = units, sigma0

    def build(self, shape):
        n = int(shape[-1])
        lim = 1.0 / np.sqrt(n)
        mu = keras.initializers.RandomUniform(-lim, lim)
        sig = keras.initializers.Constant(self.sigma0 / np.sqrt(n))
        self.w_mu = self.add_weight(name="w_mu", shape=(n, self.units), initializer=mu)
        self.w_sigma = self.add_weight(name="w_sigma", shape=(n, self.units), initializer=sig)
        self.b_mu = self.add_weight(name="b_mu", shape=(self.units,), initializer=mu)
        self.b_sigma = self.add_weight(name="b_sigma", shape=(self.units,), initializer=sig)
        self.eps_in = tf.Variable(tf.zeros((n, 1)), trainable=False, name="eps_in")
        self.eps_out = tf.Variable(tf.zeros((1, self.units)), trainable=False, name="eps_out")

    def resample(self):
        for eps in (self.eps_in, self.eps_out):
            x = tf.random.normal(eps.shape)
            eps.assign(tf.sign(x) * tf.sqrt(tf.abs(x)))

    def call(self, x):
        w = self.w_mu + self.w_sigma * (self.eps_in * self.eps_out)
        return tf.matmul(x, w) + self.b_mu + self.b_sigma * self.eps_out[0]


def build_net():
    s = layers.Input((N_STATE,))
    h = layers.Dense(24, activation="relu")(s)
    v = NoisyDense(1, name="value")(h)
    a = NoisyDense(N_ACT, name="advantage")(h)
    q = layers.Lambda(lambda t: t[0] + t[1] - tf.reduce_mean(t[1], axis=1, keepdims=True))([v, a])
    return keras.Model(s, q)


online, target = build_net(), build_net()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(2e-3)
memory = deque(maxlen=500)


@tf.function
def learn(s, a, r, s2, d):
    best = tf.argmax(online(s2), axis=1, output_type=tf.int32)
    q2 = tf.gather(target(s2), best, axis=1, batch_dims=1)
    y = r + 0.9 * (1.0 - d) * q2
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(y - q))
    g = tape.gradient(loss, online.trainable_variables)
    g, norm = tf.clip_by_global_norm(g, 10.0)
    optimizer.apply_gradients(zip(g, online.trainable_variables))
    return loss, norm


state = np.random.randn(N_STATE).astype("float32")
for step in range(120):
    for name in ("value", "advantage"):
        online.get_layer(name).resample()
        target.get_layer(name).resample()
    action = int(np.argmax(online(state[None]).numpy()[0]))
    reward = float(action == int(np.argmax(state[:N_ACT])))
    nxt = np.random.randn(N_STATE).astype("float32")
    memory.append((state, action, reward, nxt, float(random.random() < 0.05)))
    state = nxt
    if len(memory) >= 24:
        s, a, r, s2, d = map(np.array, zip(*random.sample(memory, 24)))
        loss, norm = learn(s, a.astype("int32"), r.astype("float32"), s2, d.astype("float32"))
    if step % 30 == 29:
        target.set_weights(online.get_weights())
        print(step, "loss %.4f grad norm %.3f" % (loss, norm), "avg r", np.mean([m[2] for m in memory]))
