import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(341)


class DQN:
    def __init__(self, n_obs, n_act):
        self.n_obs, self.n_act = n_obs, n_act
        self.q_net, self.target_net = self._build(), self._build()
        self.target_net.set_weights(self.q_net.get_weights())
        self.target_net.trainable = False
        self.q_net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")

    def _build(self):
        return keras.Sequential([
            keras.Input((self.n_obs,)),
            keras.layers.Dense(24, activation="relu"),
            keras.layers.Dense(self.n_act),
        ])

    def replay(self, s, a, r, s2, done, gamma=0.95):
        y = self.q_net(s).numpy()
        y[np.arange(len(a)), a] = r + gamma * (1 - done) * self.target_net(s2).numpy().max(axis=1)
        return self.q_net.train_on_batch(s, y)

    def sync(self):
        self.target_net.set_weights(self.q_net.get_weights())


agent = DQN(4, 3)
for step in range(20):
    s, s2 = (np.random.randn(32, 4).astype("float32") for _ in range(2))
    a = np.random.randint(3, size=32)
    r = (a == s[:, :3].argmax(axis=1)).astype("float32")
    loss = agent.replay(s, a, r, s2, np.random.rand(32) < 0.1)
    if step % 5 == 4:
        agent.sync()
        print("step", step, "loss", round(float(loss), 4))
