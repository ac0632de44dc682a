"""DRQN on a tiny memory task: the cue is shown at t=0, the choice is made at the end."""
import random
from collections import deque, namedtuple

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers, optimizers

SEED = 11
random.seed(SEED), np.random.seed(SEED), tf.random.set_seed(SEED)
Episode = namedtuple("Episode", "obs act rew")
SEQ_LEN, N_ACT = 4, 3


class EpisodeBuffer:
    def __init__(self, capacity=200):
        self.episodes = deque(maxlen=capacity)

    def add(self, episode):
        self.episodes.append(episode)

    def sample(self, n):
        picked = random.sample(self.episodes, n)
        return Episode(*(np.stack(field) for field in zip(*picked)))

    def __len__(self):
        return len(self.episodes)


class Encoder(Model):
    def __init__(self):
        super().__init__()
        self.fc = layers.Dense(12, activation="relu")

    def call(self, x):
        return self.fc(x)


class DRQN(Model):
    def __init__(self):
        super().__init__()
        self.lstm = layers.LSTM(12)
        self.head = layers.Dense(N_ACT)

    def call(self, seq):
        return self.head(self.lstm(seq))


class Agent:
    def __init__(self):
        self.encoder, self.core = Encoder(), DRQN()
        self.optimizer = optimizers.Adam(5e-3)

    def features(self, obs):
        steps = [self.encoder(obs[:, t]) for t in range(SEQ_LEN)]
        return np.stack(steps, axis=1)

    def q(self, obs):
        return self.core(self.features(obs))

    def act(self, obs, eps):
        if random.random() < eps:
            return random.randrange(N_ACT)
        return int(tf.argmax(self.q(obs[None])[0]))

    def train(self, batch):
        with tf.GradientTape() as tape:
            q = self.q(batch.obs)
            chosen = tf.gather(q, batch.act, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(batch.rew - chosen))
        weights = self.encoder.trainable_variables + self.core.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return float(loss)


def new_cue():
    cue = random.randrange(N_ACT)
    obs = np.zeros((SEQ_LEN, N_ACT + 1), np.float32)
    obs[0, cue] = 1.0
    obs[1:, -1] = 1.0
    return obs, cue


agent, buffer = Agent(), EpisodeBuffer()
for episode in range(60):
    obs, cue = new_cue()
    a = agent.act(obs, eps=0.7)
    buffer.add(Episode(obs, a, np.float32(a == cue)))
    if len(buffer) >= 24 and episode % 4 == 0:
        print(f"episode {episode} loss {agent.train(buffer.sample(24)):.4f}")
