import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import math

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, optimizers, utils

utils.set_random_seed(52)
HORIZON, ENVS, GAMMA = 8, 16, 0.9


class GaussianPolicy(tf.Module):
    def __init__(self, obs_dim, act_dim, hidden=24):
        super().__init__(name="gaussian_policy")
        self.hidden = layers.Dense(hidden, activation="tanh")
        self.mean = layers.Dense(act_dim)
        self.hidden.build((None, obs_dim))
        self.mean.build((None, hidden))
        self.log_std = tf.Variable(-0.5 * tf.ones(act_dim), name="log_std")

    def __call__(self, obs):
        return self.mean(self.hidden(obs)), tf.exp(self.log_std)

    def log_prob(self, obs, act):
        mean, std = self(obs)
        z = (act - mean) / std
        return -tf.reduce_sum(0.5 * z ** 2 + self.log_std + 0.5 * math.log(2 * math.pi), axis=-1)


class Reacher:
    def reset(self):
        self.x = np.random.uniform(-1, 1, (ENVS, 2)).astype("float32")
        self.goal = np.random.uniform(-1, 1, (ENVS, 2)).astype("float32")
        return np.concatenate([self.x, self.goal], 1)

    def step(self, u):
        self.x = self.x + 0.3 * np.clip(u, -1, 1)
        return np.concatenate([self.x, self.goal], 1), -np.abs(self.x - self.goal).sum(1)


policy, env = GaussianPolicy(4, 2), Reacher()
optimizer = optimizers.Adam(1e-2)

for iteration in range(15):
    obs, O, U, R = env.reset(), [], [], []
    for t in range(HORIZON):
        mean, std = policy(obs)
        u = (mean + std * tf.random.normal(mean.shape)).numpy()
        O.append(obs)
        U.append(u)
        obs, r = env.step(u)
        R.append(r)
    G, run = np.zeros((HORIZON, ENVS), "float32"), 0.0
    for t in reversed(range(HORIZON)):
        run = R[t] + GAMMA * run
        G[t] = run
    adv = (G - G.mean(axis=1, keepdims=True)) / (G.std(axis=1, keepdims=True) + 1e-6)
    flat_o, flat_u = np.concatenate(O), np.concatenate(U)
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(policy.log_prob(flat_o, flat_u) * adv.reshape(-1))
    params = policy.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, params), params))
    if iteration % 5 == 0:
        print("iteration", iteration, "return", round(float(np.sum(R) / ENVS), 3), "loss", round(float(loss), 4))
