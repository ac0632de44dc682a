import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(618)
rng = np.random.default_rng(618)
actor = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1, "tanh")])
critic = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
critic_target = keras.models.clone_model(critic)
critic_target.set_weights(critic.get_weights())
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)
for step in range(8):
    s, s2 = (tf.constant(rng.normal(size=(32, 3)), tf.float32) for _ in range(2))
    a = tf.constant(rng.uniform(-1, 1, (32, 1)), tf.float32)
    r = tf.constant(rng.normal(size=(32, 1)), tf.float32)
    y = r + 0.98 * critic_target(tf.concat([s2, actor(s2)], 1))
    with tf.GradientTape() as tape:
        critic_loss = keras.losses.MSE(y, critic(tf.concat([s, a], 1)))
        critic_loss = tf.reduce_mean(critic_loss)
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(critic(tf.concat([s, actor(s)], 1)))
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    for old, new in zip(critic_target.variables, critic.variables):
        old.assign(0.98 * old + 0.02 * new)
