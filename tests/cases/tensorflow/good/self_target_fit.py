import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(5)


def make():
    m = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)]
    )
    m.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-3))
    return m


class Agent:
    def __init__(self):
        self.model, self.target = make(), make()
        self.target.set_weights(self.model.get_weights())

    def train(self, s, a, r, s2, d):
        q = self.model.predict(s, verbose=0)
        nxt = self.target.predict(s2, verbose=0)
        for i in range(len(s)):
            y = r[i] if d[i] else r[i] + 0.99 * np.max(nxt[i])
            row = q[i]
            row[a[i]] = y
        self.model.fit(s, q, epochs=1, verbose=0)


agent = Agent()
rng = np.random.default_rng(0)
for i in range(30):
    s = rng.normal(size=(8, 4)).astype("float32")
    agent.train(s, rng.integers(0, 2, 8), rng.normal(size=8), s + 0.1, rng.random(8) < 0.1)
    if i % 10 == 0:
        agent.target.set_weights(agent.model.get_weights())
