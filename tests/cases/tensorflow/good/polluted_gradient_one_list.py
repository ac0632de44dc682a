import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(614)
rng = np.random.default_rng(614)
actor = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1, "tanh")])
critic = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
critic_target = keras.models.clone_model(critic)
critic_target.set_weights(critic.get_weights())
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


@tf.function
def update(s, a, r, s2):
    y = r + 0.98 * critic_target(tf.concat([s2, actor(s2)], 1))
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean(tf.square(y - critic(tf.concat([s, a], 1))))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    weights = actor.trainable_variables
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(critic(tf.concat([s, actor(s)], 1)))
    grads = tape.gradient(actor_loss, weights)
    actor_opt.apply_gradients(zip(grads, weights))


for step in range(8):
    s, s2 = (tf.constant(rng.normal(size=(32, 3)), tf.float32) for _ in range(2))
    a = tf.constant(rng.uniform(-1, 1, (32, 1)), tf.float32)
    update(s, a, tf.constant(rng.normal(size=(32, 1)), tf.float32), s2)
    for old, new in zip(critic_target.variables, critic.variables):
        old.assign(0.98 * old + 0.02 * new)
