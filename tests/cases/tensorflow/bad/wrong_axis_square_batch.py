import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)


def make():
    return tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(8)]
    )


net, target = make(), make()
target.set_weights(net.get_weights())
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train(s, a, r, s2, d):
    nxt = tf.reduce_max(target(s2), axis=0)
    y = r + 0.99 * (1 - d) * nxt
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(net(s) * tf.one_hot(a, 8), axis=1)
        loss = tf.reduce_mean(tf.square(y - q))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))


rng = np.random.default_rng(0)
for i in range(40):
    s = tf.constant(rng.normal(size=(8, 4)), tf.float32)
    train(
        s,
        tf.constant(rng.integers(0, 8, 8)),
        tf.constant(rng.normal(size=8), tf.float32),
        s + 0.1,
        tf.constant(rng.random(8) < 0.1, tf.float32) if False else tf.cast(rng.random(8) < 0.1, tf.float32),
    )
    if i % 10 == 0:
        target.set_weights(net.get_weights())
