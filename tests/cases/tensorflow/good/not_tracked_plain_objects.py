import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(331)


class Chain:
    def __init__(self, parts):
        self.parts = parts

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


class ResidualQ(keras.Model):
    def __init__(self, n_actions, width=16, depth=2):
        super().__init__()
        self.embed = keras.layers.Dense(width)
        self.blocks = []
        for _ in range(depth):
            parts = [keras.layers.Dense(width, activation="relu"), keras.layers.Dense(width)]
            self.blocks.append(keras.Sequential(parts))
        self.head = keras.layers.Dense(n_actions)

    def call(self, obs):
        x = self.embed(obs)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


net = ResidualQ(3)
opt = keras.optimizers.Adam(2e-3)

for it in range(12):
    obs = np.random.randn(32, 4).astype("float32")
    act = np.random.randint(3, size=32)
    rew = obs[np.arange(32), act]
    with tf.GradientTape() as tape:
        q = tf.gather(net(obs), act, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(q - rew))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    print("it", it, "loss", round(float(loss), 4), "weights", len(net.trainable_variables))
