import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(342)

actor = keras.Sequential([keras.Input((3,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2)])
log_alpha = tf.Variable(0.0, trainable=True, dtype=tf.float32, name="log_alpha")
actor_opt, alpha_opt = keras.optimizers.Adam(2e-3), keras.optimizers.Adam(1e-2)
TARGET_ENTROPY = -1.0


def act(obs):
    mu, log_std = tf.split(actor(obs), 2, axis=1)
    eps = tf.random.normal(tf.shape(mu))
    a = tf.tanh(mu + tf.exp(log_std) * eps)
    logp = -0.5 * eps ** 2 - log_std - 0.919 - tf.math.log(1.0 - a ** 2 + 1e-6)
    return a, logp


def q_star(obs, a):
    return -tf.square(a - tf.tanh(obs[:, :1]))


@tf.function
def update(obs):
    with tf.GradientTape() as tape:
        a, logp = act(obs)
        actor_loss = tf.reduce_mean(tf.exp(log_alpha) * logp - q_star(obs, a))
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    with tf.GradientTape() as tape:
        alpha_loss = -tf.reduce_mean(tf.exp(log_alpha) * (tf.stop_gradient(logp) + TARGET_ENTROPY))
    alpha_opt.apply_gradients(zip(tape.gradient(alpha_loss, [log_alpha]), [log_alpha]))
    return actor_loss, tf.exp(log_alpha)


for it in range(20):
    loss, alpha = update(np.random.randn(64, 3).astype("float32"))
    if it % 5 == 0:
        print("it", it, "loss", round(float(loss), 4), "alpha", round(float(alpha), 4))
