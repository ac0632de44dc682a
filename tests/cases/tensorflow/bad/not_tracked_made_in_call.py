import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(332)


class CommPolicy(keras.Model):
    def __init__(self, n_actions, width=12):
        super().__init__()
        self.width = width
        self.encode = layers.Dense(width, activation="tanh")
        self.message = layers.Dense(width, activation="tanh")
        self.logits = layers.Dense(n_actions)

    def call(self, obs):
        h = self.encode(obs)
        h = h + self.message(tf.reduce_mean(h, axis=1, keepdims=True))
        h = h + layers.Dense(self.width, activation="tanh")(tf.reduce_mean(h, axis=1, keepdims=True))
        return self.logits(h)


policy = CommPolicy(2)
optimizer = keras.optimizers.Adam(5e-3)

for it in range(10):
    obs = np.random.randn(24, 3, 4).astype("float32")
    act = tf.random.categorical(tf.reshape(policy(obs), (-1, 2)), 1).numpy().reshape(24, 3)
    rew = (act == (obs.sum(axis=(1, 2)) > 0)[:, None]).mean(axis=1)
    adv = tf.constant((rew - rew.mean())[:, None], tf.float32)
    with tf.GradientTape() as tape:
        xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=policy(obs))
        loss = tf.reduce_mean(xent * adv)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    print("it", it, "team reward", round(float(rew.mean()), 3), "loss", round(float(loss), 4))
