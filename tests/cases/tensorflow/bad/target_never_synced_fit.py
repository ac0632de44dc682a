import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(604)


class Agent(keras.Model):
    def __init__(self):
        super().__init__()
        self.online = self.make()
        self.lagged = self.make()

    def make(self):
        return keras.Sequential(
            [keras.layers.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(3)]
        )

    def call(self, s):
        return self.online(s)

    def train_step(self, data):
        (s, a, r, s2), _ = data
        y = r + 0.97 * tf.reduce_max(self.lagged(s2), axis=1)
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(y - q))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.online.trainable_variables))
        return {"loss": loss}


def soft_update(target, source, tau=0.01):
    for old, new in zip(target.variables, source.variables):
        old.assign(old * (1.0 - tau) + new * tau)


rng = np.random.default_rng(604)
s, s2 = rng.normal(size=(2, 256, 4)).astype("float32")
a, r = rng.integers(3, size=256), rng.normal(size=256).astype("float32")
agent = Agent()
agent(s[:1])
agent.compile(optimizer=keras.optimizers.Adam(1e-3))
agent.fit(tf.data.Dataset.from_tensor_slices(((s, a, r, s2), r)).batch(32), epochs=2, verbose=0)
