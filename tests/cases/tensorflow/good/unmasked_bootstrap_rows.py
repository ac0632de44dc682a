"""The DQN of the tutorials, with a deque of tuples."""

import random
from collections import deque

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(3)


class Agent:
    def __init__(self):
        self.memory = deque(maxlen=500)
        self.model, self.target = self.make(), self.make()
        self.sync()

    def make(self):
        model = keras.Sequential([layers.Input((4,)), layers.Dense(24, "relu"), layers.Dense(2)])
        model.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-3))
        return model

    def sync(self):
        self.target.set_weights(self.model.get_weights())

    def replay(self, size):
        batch = random.sample(self.memory, size)
        states = np.vstack([row[0] for row in batch])
        targets = self.model.predict(states, verbose=0)
        future = self.target.predict(np.vstack([row[3] for row in batch]), verbose=0)
        for i, (_, action, reward, _, done) in enumerate(batch):
            targets[i][action] = reward if done else reward + 0.95 * np.amax(future[i])
        self.model.fit(states, targets, batch_size=size, verbose=0)


agent = Agent()
for step in range(60):
    done = step % 7 == 6
    state, after = np.random.randn(1, 4), np.random.randn(1, 4)
    agent.memory.append((state, random.randrange(2), float(state[0, 0]), after, done))
    if step >= 48:
        agent.replay(16)
    if step % 4 == 0:
        agent.sync()
