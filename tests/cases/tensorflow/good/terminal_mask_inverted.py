"""A compiled DQN in main(): what the mask holds is known when the function is called."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


def build():
    return keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(2)])


def main():
    keras.utils.set_random_seed(736)
    rng = np.random.default_rng(736)
    online, target = build(), build()
    target.set_weights(online.get_weights())
    optimizer = keras.optimizers.Adam(1e-3)

    @tf.function
    def learn(s, a, r, s2, d):
        y = r + 0.9 * (1.0 - d) * tf.reduce_max(target(s2), axis=1)
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(online(s) * tf.one_hot(a, 2), axis=1)
            loss = tf.reduce_mean(tf.square(y - q))
        grads = tape.gradient(loss, online.trainable_variables)
        optimizer.apply_gradients(zip(grads, online.trainable_variables))
        return loss

    for step in range(40):
        s, s2 = rng.normal(size=(2, 32, 4)).astype(np.float32)
        a, r = rng.integers(0, 2, 32), rng.normal(size=32).astype(np.float32)
        d = (rng.random(32) < 0.1).astype(np.float32)
        loss = learn(s, a, r, s2, d)
        if step % 10 == 0:
            target.set_weights(online.get_weights())
    print(round(float(loss), 3))


main()
