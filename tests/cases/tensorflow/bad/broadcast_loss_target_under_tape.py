import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(10)


def build():
    return tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)]
    )


critic, target = build(), build()
target.set_weights(critic.get_weights())
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function
def step(s, r, s2, d):
    with tf.GradientTape() as tape:
        y = r + 0.9 * (1.0 - d) * target(s2)
        v = critic(s)
        loss = tf.reduce_mean(tf.square(tf.expand_dims(y, -1) - v))
    opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))


rng = np.random.default_rng(0)
for i in range(60):
    s = tf.constant(rng.normal(size=(16, 4)), tf.float32)
    step(s, s[:, :1], s + 0.1, tf.cast(s[:, 1:2] > 1.0, tf.float32))
    if i % 10 == 0:
        target.set_weights(critic.get_weights())
