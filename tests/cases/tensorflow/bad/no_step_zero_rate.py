import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(346)
BATCH = 64
config = {"lr_scale": 3, "base": 1000, "width": 24}

policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(config["width"], activation="tanh"), keras.layers.Dense(3)])
learning_rate = float(config["lr_scale"] // config["base"])
optimizer = keras.optimizers.Adam(learning_rate)


@tf.function
def train(obs, act, adv):
    with tf.GradientTape() as tape:
        logits = policy(obs)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=logits)
        entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=1)
        loss = -tf.reduce_mean(logp * adv + 0.01 * entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


for it in range(20):
    obs = np.random.randn(BATCH, 4).astype("float32")
    act = tf.random.categorical(policy(obs), 1).numpy()[:, 0]
    rew = (act == obs[:, :3].argmax(axis=1)).astype("float32")
    loss = train(obs, act, rew - rew.mean())
    if it % 5 == 0:
        print("it", it, "reward", rew.mean(), "loss", round(float(loss), 4))
