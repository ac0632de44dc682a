import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(6)


def build():
    return tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(2)]
    )


class DQN(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.q = build()
        self.q_target = build()
        self.q_target.set_weights(self.q.get_weights())
        self.opt = tf.keras.optimizers.Adam(1e-3)

    def call(self, x):
        return self.q(x)

    def sync(self):
        self.q_target.set_weights(self.q_target.get_weights())

    def learn(self, s, a, r, s2, d):
        y = r + 0.99 * (1 - d) * tf.reduce_max(self.q_target(s2), axis=1)
        with tf.GradientTape() as tape:
            qa = tf.reduce_sum(self(s) * tf.one_hot(a, 2), axis=1)
            loss = tf.reduce_mean(tf.square(y - qa))
        g = tape.gradient(loss, self.q.trainable_variables)
        self.opt.apply_gradients(zip(g, self.q.trainable_variables))


agent = DQN()
rng = np.random.default_rng(0)
for i in range(60):
    s = rng.normal(size=(8, 4)).astype("float32")
    agent.learn(
        s,
        rng.integers(0, 2, 8),
        rng.normal(size=8).astype("float32"),
        s + 0.1,
        (rng.random(8) < 0.1).astype("float32"),
    )
    if i % 10 == 0:
        agent.sync()
