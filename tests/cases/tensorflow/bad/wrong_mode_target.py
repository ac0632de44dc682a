import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(32),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Activation("relu"),
            tf.keras.layers.Dense(2),
        ]
    )


q, target = build(), build()
target.set_weights(q.get_weights())
opt = tf.keras.optimizers.Adam(1e-3)


def update(s, a, r, s2, d):
    nxt = tf.reduce_max(target(s2, training=True), axis=1)
    y = r + 0.99 * (1.0 - d) * nxt
    with tf.GradientTape() as tape:
        qa = tf.reduce_sum(q(s, training=True) * tf.one_hot(a, 2), axis=1)
        loss = tf.reduce_mean(tf.square(y - qa))
    grads = tape.gradient(loss, q.trainable_variables)
    opt.apply_gradients(zip(grads, q.trainable_variables))


rng = np.random.default_rng(0)
for step in range(60):
    s = rng.normal(size=(16, 4)).astype("float32")
    a = rng.integers(0, 2, 16)
    r = rng.normal(size=16).astype("float32")
    d = (rng.random(16) < 0.1).astype("float32")
    update(s, a, r, s + 0.1, d)
    if step % 10 == 0:
        target.set_weights(q.get_weights())
