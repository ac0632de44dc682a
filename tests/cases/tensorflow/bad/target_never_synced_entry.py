"""The DQN agent of a hundred blog posts: predict, change one entry, fit."""

import random
from collections import deque
import numpy as np
from tensorflow import keras


class DQNAgent:
    def __init__(self, state_size, action_size):
        self.state_size, self.action_size = state_size, action_size
        self.memory = deque(maxlen=2000)
        self.gamma = 0.95
        self.model = self._build_model()
        self.target_model = self._build_model()
        self.update_target_model()

    def _build_model(self):
        model = keras.Sequential()
        model.add(keras.layers.Input((self.state_size,)))
        model.add(keras.layers.Dense(24, activation="relu"))
        model.add(keras.layers.Dense(self.action_size, activation="linear"))
        model.compile(loss="mse", optimizer=keras.optimizers.Adam(learning_rate=0.001))
        return model

    def update_target_model(self):
        self.target_model.set_weights(self.model.get_weights())

    def memorize(self, *transition):
        self.memory.append(transition)

    def act(self, state):
        return int(np.argmax(self.model.predict(state, verbose=0)[0]))

    def replay(self, batch_size):
        minibatch = random.sample(self.memory, batch_size)
        for state, action, reward, next_state, done in minibatch:
            target = self.model.predict(state, verbose=0)
            if done:
                target[0][action] = reward
            else:
                t = self.target_model.predict(next_state, verbose=0)[0]
                target[0][action] = reward + self.gamma * np.amax(t)
            self.model.fit(state, target, epochs=1, verbose=0)


def main():
    rng = np.random.default_rng(0)
    agent = DQNAgent(4, 2)
    for step in range(5):
        for _ in range(8):
            s, s2 = rng.normal(size=(1, 4)), rng.normal(size=(1, 4))
            agent.memorize(s, agent.act(s), float(rng.normal()), s2, bool(rng.random() < 0.2))
        agent.replay(4)
        print(step)


if __name__ == "__main__":
    main()
