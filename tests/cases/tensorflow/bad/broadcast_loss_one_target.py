import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(10)
critic = tf.keras.Sequential(
    [tf.keras.Input((4,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)]
)
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function
def step(s, r, s2, d):
    with tf.GradientTape() as tape:
        v = tf.squeeze(critic(s), 1)
        nxt = tf.squeeze(critic(s2), 1)
        y = tf.stop_gradient(tf.reduce_mean(r + 0.9 * (1 - d) * nxt))
        loss = tf.reduce_mean(tf.square(y - v))
    opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))


rng = np.random.default_rng(0)
for i in range(40):
    s = tf.constant(rng.normal(size=(16, 4)), tf.float32)
    step(s, s[:, 0], s + 0.1, tf.cast(s[:, 1] > 1, tf.float32))
