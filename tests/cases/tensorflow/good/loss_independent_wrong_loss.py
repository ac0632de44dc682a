import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras.layers import Dense

keras.utils.set_random_seed(329)

actor = keras.Sequential([Dense(16, activation="relu"), Dense(3, activation="softmax")])
critic = keras.Sequential([Dense(16, activation="relu"), Dense(1)])
opt_actor = keras.optimizers.Adam(3e-3)
opt_critic = keras.optimizers.Adam(3e-3)


def losses(obs, act, ret):
    probs, value = actor(obs), critic(obs)[:, 0]
    chosen = tf.gather(probs, act, axis=1, batch_dims=1)
    advantage = tf.stop_gradient(ret - value)
    l_actor = -tf.reduce_mean(tf.math.log(chosen + 1e-8) * advantage)
    l_critic = tf.reduce_mean(tf.square(ret - value))
    return l_actor, l_critic


for episode in range(10):
    obs = np.random.randn(32, 4).astype("float32")
    act = tf.random.categorical(tf.math.log(actor(obs)), 1).numpy()[:, 0]
    ret = obs[np.arange(32), act]
    with tf.GradientTape(persistent=True) as tape:
        l_actor, l_critic = losses(obs, act, ret)
    g_critic = tape.gradient(l_critic, critic.trainable_variables)
    g_actor = tape.gradient(l_actor, actor.trainable_variables)
    opt_critic.apply_gradients(zip(g_critic, critic.trainable_variables))
    opt_actor.apply_gradients(zip(g_actor, actor.trainable_variables))
    print("episode", episode, "return", round(float(ret.mean()), 3))
