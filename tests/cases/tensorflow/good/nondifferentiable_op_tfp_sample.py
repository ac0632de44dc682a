import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow import keras

tfd = tfp.distributions
keras.utils.set_random_seed(311)


def mlp(n_in, n_out):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(n_out)])


actor, critic = mlp(4, 3), mlp(7, 1)
actor_opt, critic_opt = keras.optimizers.Adam(2e-3), keras.optimizers.Adam(2e-3)


@tf.function
def critic_step(s, a, r):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(critic(tf.concat([s, a], -1))[:, 0] - r))
    grads = tape.gradient(loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


@tf.function
def actor_step(s):
    with tf.GradientTape() as tape:
        logits = actor(s)
        a = tfd.RelaxedOneHotCategorical(0.7, logits=logits).sample()
        loss = -tf.reduce_mean(critic(tf.concat([s, a], -1)))
    grads = tape.gradient(loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    return loss


for it in range(15):
    s = np.random.randn(32, 4).astype("float32")
    a = np.eye(3, dtype="float32")[np.random.randint(3, size=32)]
    r = (a * s[:, :3]).sum(1)
    lc, la = critic_step(s, a, r), actor_step(s)
    if it % 5 == 0:
        print("it", it, "critic", round(float(lc), 4), "actor", round(float(la), 4))
