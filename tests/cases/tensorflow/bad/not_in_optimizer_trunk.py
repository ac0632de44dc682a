import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(335)

trunk = keras.Sequential([keras.Input((6,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(12, activation="relu")], name="trunk")
head = keras.Sequential([keras.Input((12,)), keras.layers.Dense(3)], name="head")
optimizer = keras.optimizers.Adam(3e-3)
variables = head.trainable_variables
huber = keras.losses.Huber()


def q_values(obs):
    return head(trunk(obs))


def replay_update(obs, act, rew, nxt, done, gamma=0.9):
    target = rew + gamma * (1.0 - done) * tf.reduce_max(q_values(nxt), axis=1)
    with tf.GradientTape() as tape:
        chosen = tf.reduce_sum(q_values(obs) * tf.one_hot(act, 3), axis=1)
        loss = huber(target, chosen)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return float(loss)


for it in range(12):
    obs = np.random.randn(48, 6).astype("float32")
    act = np.argmax(q_values(obs) + np.random.gumbel(size=(48, 3)), axis=1)
    rew = obs[np.arange(48), act] * obs[:, 5]
    done = (np.random.rand(48) < 0.2).astype("float32")
    loss = replay_update(obs, act, rew, np.random.randn(48, 6).astype("float32"), done)
    if it % 4 == 3:
        print("it", it, "loss", round(loss, 4))
