import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(6)


def build():
    m = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)]
    )
    m.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-3))
    return m


class DQN:
    def __init__(self):
        self.model = build()
        self.target_model = build()
        self.sync()

    def sync(self):
        self.target_model.set_weights(self.model.get_weights())

    def train(self, s, a, r, s2, d):
        q = self.model.predict(s, verbose=0)
        nxt = self.target_model.predict(s2, verbose=0)
        q[np.arange(8), a] = r + 0.99 * (1 - d) * np.amax(nxt, axis=1)
        self.model.fit(s, q, epochs=1, verbose=0)


agent = DQN()
rng = np.random.default_rng(0)
for i in range(30):
    s = rng.normal(size=(8, 4)).astype("float32")
    agent.train(s, rng.integers(0, 2, 8), rng.normal(size=8), s + 0.1, (rng.random(8) < 0.1).astype(float))
    if i % 10 == 0:
        agent.sync()
