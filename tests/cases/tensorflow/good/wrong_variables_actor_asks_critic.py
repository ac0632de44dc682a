import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(338)


def tower(last=None):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1, activation=last)])


actor, critic = tower("tanh"), tower()
actor_opt, critic_opt = keras.optimizers.Adam(2e-3), keras.optimizers.Adam(2e-3)


@tf.function
def learn(obs, action, reward):
    with tf.GradientTape() as tape:
        q = critic(tf.concat([obs, action], axis=1))
        critic_loss = tf.reduce_mean(tf.square(q - reward))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))

    with tf.GradientTape() as tape:
        bias = tf.ones((tf.shape(obs)[0], 1))
        own = actor(tf.concat([obs, bias], axis=1))
        actor_loss = -tf.reduce_mean(critic(tf.concat([obs, own], axis=1)))
    grads = tape.gradient(actor_loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    return critic_loss, actor_loss


for it in range(20):
    obs = np.random.randn(48, 3).astype("float32")
    action = np.random.uniform(-1, 1, (48, 1)).astype("float32")
    losses = learn(obs, action, -np.square(action - np.tanh(obs[:, :1])))
    if it % 5 == 0:
        print("it", it, [round(float(x), 4) for x in losses])
