"""A soft actor-critic whose Gaussian is written out."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers

tf.keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)


def mlp(inputs, outputs):
    return Sequential([layers.Input((inputs,)), layers.Dense(24, activation="relu"), layers.Dense(outputs)])


actor, critic, critic_target = mlp(3, 2), mlp(4, 1), mlp(4, 1)
critic_target.set_weights(critic.get_weights())
actor_opt, critic_opt = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)
alpha = 0.2


def act(state):
    mu, log_std = tf.split(actor(state), 2, axis=1)
    log_std = tf.clip_by_value(log_std, -5.0, 2.0)
    u = mu + tf.exp(log_std) * tf.random.normal(tf.shape(mu))
    log_prob = -0.5 * (tf.square((u - mu) / tf.exp(log_std)) + 2.0 * log_std + np.log(2.0 * np.pi))
    log_prob -= tf.math.log(1.0 - tf.square(tf.tanh(u)) + 1e-6)
    return tf.tanh(u), tf.reduce_sum(log_prob, axis=1, keepdims=True)


@tf.function
def update(state, action, reward, next_state, done):
    next_action, next_log_prob = act(next_state)
    next_q = critic_target(tf.concat([next_state, next_action], axis=1))
    target = reward + 0.99 * (1.0 - done) * (next_q + alpha * next_log_prob)
    with tf.GradientTape() as tape:
        q = critic(tf.concat([state, action], axis=1))
        critic_loss = tf.reduce_mean(tf.square(target - q))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        new_action, log_prob = act(state)
        q = critic(tf.concat([state, new_action], axis=1))
        actor_loss = tf.reduce_mean(alpha * log_prob - q)
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))


for i in range(12):
    state, next_state = (rng.normal(size=(16, 3)).astype("float32") for _ in range(2))
    action = rng.uniform(-1, 1, size=(16, 1)).astype("float32")
    reward = (state[:, :1] - action**2).astype("float32")
    done = (rng.random((16, 1)) < 0.1).astype("float32")
    update(*map(tf.constant, (state, action, reward, next_state, done)))
    for weight, slow in zip(critic.variables, critic_target.variables):
        slow.assign(0.95 * slow + 0.05 * weight)
