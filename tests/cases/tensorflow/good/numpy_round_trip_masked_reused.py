import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(72)


def mlp(inputs, outputs):
    return keras.Sequential([keras.Input((inputs,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(outputs)])


def train(updates=30):
    actor, critic = mlp(4, 1), mlp(5, 1)
    actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
    for update in range(updates):
        obs, act = tf.random.normal((32, 4)), tf.random.uniform((32, 1), -1, 1)
        reward = -tf.square(act[:, 0] - obs[:, 0])
        with tf.GradientTape() as tape:
            value = critic(tf.concat([obs, act], 1))[:, 0]
            critic_loss = tf.reduce_mean((value - reward) ** 2)
        grads = tape.gradient(critic_loss, critic.trainable_variables)
        critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
        with tf.GradientTape() as tape:
            raw = actor(obs)
            bounded = tf.clip_by_value(raw, -1.0, 1.0)
            value = critic(tf.concat([obs, bounded], 1))
            actor_loss = -tf.reduce_mean(value) + 1e-3 * tf.reduce_mean(raw**2)
        grads = tape.gradient(actor_loss, actor.trainable_variables)
        actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
        if update % 10 == 0:
            print(update, float(actor_loss))


train()
