import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(344)


def make_q(width):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(2)])


q = make_q(8)
forward = tf.function(q)
print("warm up", forward(tf.zeros((1, 4))).shape)

q = make_q(32)
forward = tf.function(q)
optimizer = keras.optimizers.Adam(2e-3)
print("parameters", q.count_params())

for it in range(12):
    obs = np.random.randn(32, 4).astype("float32")
    act = np.random.randint(2, size=32)
    rew = np.where(act == (obs[:, 0] > 0), 1.0, 0.0).astype("float32")
    with tf.GradientTape() as tape:
        pred = tf.reduce_sum(forward(obs) * tf.one_hot(act, 2), axis=1)
        loss = tf.reduce_mean(tf.square(pred - rew))
    grads = tape.gradient(loss, q.trainable_variables)
    optimizer.apply_gradients(zip(grads, q.trainable_variables))
    print("it", it, "loss", round(float(loss), 4))
