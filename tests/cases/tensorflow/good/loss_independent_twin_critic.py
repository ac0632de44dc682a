import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(328)


def mlp(n_in, n_out):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(n_out)])


actor, critic1, critic2 = mlp(3, 2), mlp(4, 1), mlp(4, 1)
a_opt, c_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)
ALPHA = 0.1


def sample(s):
    mu, log_std = tf.split(actor(s), 2, axis=1)
    std = tf.exp(tf.clip_by_value(log_std, -3.0, 1.0))
    eps = tf.random.normal(tf.shape(mu))
    a = tf.tanh(mu + std * eps)
    return a, -0.5 * eps ** 2 - tf.math.log(std) - tf.math.log(1.0 - a ** 2 + 1e-6)


@tf.function
def update(s, a, r):
    variables = critic1.trainable_variables + critic2.trainable_variables
    with tf.GradientTape() as tape:
        sa = tf.concat([s, a], axis=1)
        loss1 = tf.reduce_mean(tf.square(critic1(sa) - r))
        loss2 = tf.reduce_mean(tf.square(critic2(sa) - r))
        critic_loss = 0.5 * (loss1 + loss2)
    c_opt.apply_gradients(zip(tape.gradient(critic_loss, variables), variables))
    with tf.GradientTape() as tape:
        pi, logp = sample(s)
        x = tf.concat([s, pi], axis=1)
        actor_loss = tf.reduce_mean(ALPHA * logp - tf.minimum(critic1(x), critic2(x)))
    a_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    return critic_loss, actor_loss


for it in range(20):
    s = np.random.randn(48, 3).astype("float32")
    a = sample(s)[0].numpy()
    r = -np.square(a - np.tanh(s[:, :1]))
    losses = update(s, a, r)
    if it % 5 == 0:
        print("it", it, [round(float(x), 4) for x in losses])
