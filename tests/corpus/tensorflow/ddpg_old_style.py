import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import random

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Concatenate, Dense, Input
from tensorflow.keras.models import Model
from tensorflow.keras.optimizers import Adam

np.random.seed(1)
random.seed(1)
tf.random.set_seed(1)


class DDPG(object):
    def __init__(self, state_size=3, action_size=1):
        self.state_size, self.action_size = state_size, action_size
        self.memory = []
        self.actor, self.actor_target = self.build_actor(), self.build_actor()
        self.critic, self.critic_target = self.build_critic(), self.build_critic()
        self.actor_target.set_weights(self.actor.get_weights())
        self.critic_target.set_weights(self.critic.get_weights())
        self.critic.compile(optimizer=Adam(0.002), loss="mse")
        self.actor_optimizer = Adam(0.001)

    def build_actor(self):
        s = Input((self.state_size,))
        h = Dense(16, activation="relu")(s)
        return Model(s, Dense(self.action_size, activation="tanh")(h))

    def build_critic(self):
        s, a = Input((self.state_size,)), Input((self.action_size,))
        h = Dense(16, activation="relu")(Concatenate()([s, a]))
        return Model([s, a], Dense(1)(h))

    def remember(self, *transition):
        self.memory.append(transition)

    def train_critic(self, S, A, R, S2):
        A2 = self.actor_target.predict(S2, verbose=0)
        Q2 = self.critic_target.predict([S2, A2], verbose=0)
        return self.critic.train_on_batch([S, A], R + 0.9 * Q2)

    def train_actor(self, S):
        with tf.GradientTape() as tape:
            actions = self.actor.predict(S, verbose=0)
            actor_loss = -tf.reduce_mean(self.critic([S, actions]))
        grads = tape.gradient(actor_loss, self.actor.trainable_variables)
        self.actor_optimizer.apply_gradients(zip(grads, self.actor.trainable_variables))
        return float(actor_loss)

    def soft_update(self, tau=0.05):
        for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            target.set_weights([tau * w + (1 - tau) * t for w, t in zip(net.get_weights(), target.get_weights())])

    def replay(self, batch=32):
        S, A, R, S2 = (np.array(x, dtype="float32") for x in zip(*random.sample(self.memory, batch)))
        return self.train_critic(S, A, R, S2), self.train_actor(S)


ddpg = DDPG()
s = np.random.randn(3)
for step in range(60):
    a = ddpg.actor(s[None]).numpy()[0] + np.random.normal(0, 0.2, 1)
    s2 = 0.9 * s + 0.1 * np.random.randn(3)
    ddpg.remember(s, a, [-abs(a[0] - s[0])], s2)
    s = s2
    if step >= 40 and step % 4 == 0:
        print("step", step, "losses", ddpg.replay())
        ddpg.soft_update()
