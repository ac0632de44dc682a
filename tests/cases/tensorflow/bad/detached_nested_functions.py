import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(304)


def net(n_in, n_out, last=None):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(n_out, activation=last)])


actor, q1, q2 = net(3, 1, "tanh"), net(4, 1), net(4, 1)
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)


@tf.function
def clipped_double_q(s, a):
    x = tf.concat([s, a], axis=1)
    return tf.stop_gradient(tf.minimum(q1(x), q2(x)))


@tf.function
def update(s, a, r, s2):
    y = tf.stop_gradient(r + 0.9 * clipped_double_q(s2, actor(s2)))
    variables = q1.trainable_variables + q2.trainable_variables
    with tf.GradientTape() as tape:
        x = tf.concat([s, a], axis=1)
        critic_loss = tf.reduce_mean(tf.square(q1(x) - y)) + tf.reduce_mean(tf.square(q2(x) - y))
    critic_opt.apply_gradients(zip(tape.gradient(critic_loss, variables), variables))
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(clipped_double_q(s, actor(s)))
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    return critic_loss, actor_loss


for it in range(15):
    s = np.random.randn(32, 3).astype("float32")
    a = np.random.uniform(-1, 1, (32, 1)).astype("float32")
    r = -np.abs(a - np.tanh(s[:, :1]))
    losses = update(s, a, r, s + 0.1 * a)
    if it % 5 == 0:
        print(it, [round(float(l), 4) for l in losses])
