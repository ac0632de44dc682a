import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


def build():
    return keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)]
    )


class Agent:
    def __init__(self):
        self.online = build()
        self.target = keras.Model(self.online.inputs, self.online.outputs)
        self.sync()
        self.opt = keras.optimizers.Adam(1e-3)

    def sync(self):
        self.target.set_weights(self.online.get_weights())

    @tf.function
    def learn(self, s, a, r, s2, d):
        y = r + 0.99 * (1.0 - d) * tf.reduce_max(self.target(s2), axis=1)
        with tf.GradientTape() as tape:
            q = tf.gather(self.online(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(y - q))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.online.trainable_variables))
        return loss


def main():
    agent = Agent()
    rng = np.random.default_rng(0)
    for step in range(60):
        s = tf.constant(rng.normal(size=(16, 4)), tf.float32)
        a = tf.constant(rng.integers(0, 2, 16))
        agent.learn(s, a, s[:, 0], s + 0.1, tf.cast(s[:, 1] > 1.0, tf.float32))
        if step % 10 == 0:
            agent.sync()


main()
