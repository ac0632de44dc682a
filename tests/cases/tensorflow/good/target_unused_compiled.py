"""The target is computed in numpy and given to a compiled step."""

import numpy as np
import tensorflow as tf


def make():
    inp = tf.keras.Input((4,))
    x = tf.keras.layers.Dense(32, activation="relu")(inp)
    return tf.keras.Model(inp, tf.keras.layers.Dense(2)(x))


class Learner:
    def __init__(self):
        self.net, self.tgt = make(), make()
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.tgt.set_weights(self.net.get_weights())

    @tf.function
    def train_step(self, s, a, y):
        with tf.GradientTape() as tape:
            q = tf.gather(self.net(s), a, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(y - q))
        g = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(g, self.net.trainable_variables))
        return loss

    def update(self, s, a, r, s2, d):
        q2 = self.tgt(s2).numpy().max(axis=1)
        y = r + 0.99 * (1.0 - d) * q2
        self.train_step(s, a, y)
        self.tgt.set_weights(self.net.get_weights())


def main():
    rng = np.random.default_rng(0)
    learner = Learner()
    for _ in range(40):
        s, s2 = rng.normal(size=(2, 16, 4)).astype("float32")
        learner.update(
            s,
            rng.integers(0, 2, 16),
            rng.normal(size=16).astype("float32"),
            s2,
            (rng.random(16) < 0.1).astype("float32"),
        )


main()
