import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(605)
rng = np.random.default_rng(605)


def critic_net():
    return keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)]
    )


def actor_net():
    return keras.Sequential(
        [keras.layers.Input((3,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1, "tanh")]
    )


actor, actor_target, critic, critic_target = actor_net(), actor_net(), critic_net(), critic_net()
actor_target.set_weights(actor.get_weights())
critic_target.set_weights(critic.get_weights())
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


def blend(target, source, tau=0.02):
    for old, new in zip(target.variables, source.variables):
        old.assign_sub(tau * (old - new))


@tf.function
def update(s, a, r, s2):
    y = r + 0.98 * critic_target(tf.concat([s2, actor_target(s2)], 1))
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean(tf.square(y - critic(tf.concat([s, a], 1))))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        actor_loss = -tf.reduce_mean(critic(tf.concat([s, actor(s)], 1)))
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    blend(actor_target, actor)
    blend(critic_target, critic)


for step in range(8):
    s, s2 = (tf.constant(rng.normal(size=(32, 3)), tf.float32) for _ in range(2))
    a = tf.constant(rng.uniform(-1, 1, (32, 1)), tf.float32)
    r = tf.constant(rng.normal(size=(32, 1)), tf.float32)
    update(s, a, r, s2)
