import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(15)
GRID, HORIZON, GAMMA = 6, 24, 0.95


def one_hot(pos):
    return np.eye(GRID * GRID, dtype="float32")[pos[0] * GRID + pos[1]]


def move(pos, act):
    d = ((0, 1), (0, -1), (1, 0), (-1, 0))[act]
    return tuple(int(np.clip(p + q, 0, GRID - 1)) for p, q in zip(pos, d))


def net(n_out, name, units=24):
    return keras.Sequential([keras.Input((GRID * GRID,)), keras.layers.Dense(units, activation="relu"),
                             keras.layers.Dense(n_out)], name=name)


class Explorer:
    def __init__(self):
        self.policy, self.value = net(4, "policy"), net(2, "value")
        self.predictor, self.fixed = net(8, "predictor", 32), net(8, "fixed", 32)
        self.fixed.trainable = False
        self.opt = keras.optimizers.Adam(5e-3)
        self.rnd_opt = keras.optimizers.Adam(1e-3)
        self.scale = 1.0

    def act(self, s):
        p = tf.nn.softmax(self.policy(s[None]))[0].numpy().astype("float64")
        return np.random.choice(4, p=p / p.sum())

    def bonus(self, s):
        err = tf.reduce_mean((self.predictor(s) - self.fixed(s)) ** 2, axis=1).numpy()
        self.scale = 0.9 * self.scale + 0.1 * float(err.std() + 1e-6)
        return err / self.scale

    def update(self, s, a, ret_ext, ret_int):
        returns = np.stack([ret_ext, ret_int], axis=1).astype("float32")
        with tf.GradientTape(persistent=True) as tape:
            v = self.value(s)
            adv = tf.reduce_sum(returns - tf.stop_gradient(v), axis=1)
            logp = tf.gather(tf.nn.log_softmax(self.policy(s)), a, axis=1, batch_dims=1)
            ac_loss = -tf.reduce_mean(logp * adv) + 0.5 * tf.reduce_mean((returns - v) ** 2)
            rnd_loss = tf.reduce_mean((self.predictor(s) - tf.stop_gradient(self.fixed(s))) ** 2)
        ac_vars = self.policy.trainable_variables + self.value.trainable_variables
        grads, _ = tf.clip_by_global_norm(tape.gradient(ac_loss, ac_vars), 5.0)
        self.opt.apply_gradients(zip(grads, ac_vars))
        self.rnd_opt.apply_gradients(zip(tape.gradient(rnd_loss, self.predictor.trainable_variables),
                                         self.predictor.trainable_variables))
        del tape
        return float(rnd_loss)


def discount(x):
    out, run = np.zeros(len(x)), 0.0
    for i in range(len(x) - 1, -1, -1):
        run = x[i] + GAMMA * run
        out[i] = run
    return out


agent, visited = Explorer(), set()
for episode in range(12):
    pos, states, acts, rewards = (0, 0), [], [], []
    for t in range(HORIZON):
        s = one_hot(pos)
        a = agent.act(s)
        pos = move(pos, a)
        visited.add(pos)
        states.append(s)
        acts.append(a)
        rewards.append(1.0 if pos == (GRID - 1, GRID - 1) else 0.0)
    states = np.stack(states)
    loss = agent.update(states, np.array(acts), discount(rewards), discount(agent.bonus(states)))
    if episode % 4 == 3:
        print("episode", episode, "cells", len(visited), "rnd loss", round(loss, 4))
