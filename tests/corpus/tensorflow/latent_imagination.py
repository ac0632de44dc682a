import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers as kl

tf.random.set_seed(0)
np.random.seed(0)


class WorldModel(keras.Model):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = kl.Dense(latent, activation="tanh")
        self.dyn = kl.Dense(latent, activation="tanh")
        self.rew = kl.Dense(1)

    def encode(self, obs):
        return self.enc(obs)

    def step(self, z, a):
        return self.dyn(tf.concat([z, a], -1))

    def reward(self, z):
        return self.rew(z)[..., 0]

    def call(self, obs, act):
        nxt = self.step(self.encode(obs), act)
        return nxt, self.reward(nxt)


class Actor(keras.Model):
    def __init__(self, n):
        super().__init__()
        self.h = kl.Dense(16, activation="elu")
        self.out = kl.Dense(n, activation="tanh")

    def call(self, z):
        return self.out(self.h(z))


class Dreamer:
    def __init__(self, horizon=4):
        self.wm, self.actor, self.horizon = WorldModel(), Actor(1), horizon
        self.value = keras.Sequential([kl.Dense(16, activation="elu"), kl.Dense(1)])
        self.wm_opt, self.a_opt, self.v_opt = keras.optimizers.Adam(3e-3), keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)

    @tf.function
    def train_world(self, obs, act, rew, nxt):
        with tf.GradientTape() as tape:
            z, r = self.wm(obs, act)
            target = tf.stop_gradient(self.wm.encode(nxt))
            loss = tf.reduce_mean(tf.square(z - target)) + tf.reduce_mean(tf.square(r - rew))
        g = tape.gradient(loss, self.wm.trainable_variables)
        self.wm_opt.apply_gradients(zip(g, self.wm.trainable_variables))
        return loss

    def imagine(self, start):
        z, states, rewards = start, [], []
        for _ in range(self.horizon):
            a = self.actor(tf.stop_gradient(z))
            z = tf.stop_gradient(self.wm.step(z, a))
            states.append(z)
            rewards.append(self.wm.reward(z))
        return tf.stack(states), tf.stack(rewards)

    @tf.function
    def train_behaviour(self, obs):
        start = tf.stop_gradient(self.wm.encode(obs))
        with tf.GradientTape() as tape:
            states, rewards = self.imagine(start)
            disc = tf.constant([0.95 ** i for i in range(self.horizon)])[:, None]
            ret = tf.reduce_sum(disc * rewards, 0) + 0.95 ** self.horizon * self.value(states[-1])[:, 0]
            actor_loss = -tf.reduce_mean(ret)
        g = tape.gradient(actor_loss, self.actor.trainable_variables)
        self.a_opt.apply_gradients(zip(g, self.actor.trainable_variables))
        with tf.GradientTape() as tape:
            v = self.value(start)[:, 0]
            v_loss = tf.reduce_mean(tf.square(v - tf.stop_gradient(ret)))
        g = tape.gradient(v_loss, self.value.trainable_variables)
        self.v_opt.apply_gradients(zip(g, self.value.trainable_variables))
        return actor_loss, v_loss


dreamer = Dreamer()
for it in range(10):
    obs = np.random.randn(32, 5).astype(np.float32)
    act = np.random.uniform(-1, 1, (32, 1)).astype(np.float32)
    nxt = obs + 0.1 * act
    wl = dreamer.train_world(obs, act, -np.abs(act[:, 0] - obs[:, 0]), nxt)
    al, vl = dreamer.train_behaviour(obs)
    print(it, float(wl), float(al), float(vl))
