import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(2),
        ]
    )


class Agent:
    def __init__(self):
        self.q, self.target = build(), build()
        self.target.set_weights(self.q.get_weights())
        self.opt = tf.keras.optimizers.Adam(1e-3)

    def act(self, state):
        return int(tf.argmax(self.q(state[None], training=False)[0]))

    def update(self, s, a, r, s2, d):
        nxt = tf.reduce_max(self.target(s2, training=False), axis=1)
        y = r + 0.99 * (1.0 - d) * nxt
        with tf.GradientTape() as tape:
            q = self.q(s)
            qa = tf.reduce_sum(q * tf.one_hot(a, 2), axis=1)
            loss = tf.reduce_mean(tf.square(y - qa))
        grads = tape.gradient(loss, self.q.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.q.trainable_variables))
        return loss


def main():
    rng = np.random.default_rng(0)
    agent = Agent()
    for step in range(60):
        s = rng.normal(size=(16, 4)).astype("float32")
        agent.act(s[0])
        a = rng.integers(0, 2, 16)
        r = rng.normal(size=16).astype("float32")
        d = (rng.random(16) < 0.1).astype("float32")
        agent.update(s, a, r, s + 0.1, d)
        if step % 10 == 0:
            agent.target.set_weights(agent.q.get_weights())


main()
