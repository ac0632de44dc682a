import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(312)

controller = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(16, activation="tanh"),
    keras.layers.Dense(1, activation="tanh"),
])
optimizer = keras.optimizers.SGD(0.05)
GRID = 8.0


def to_motor(u):
    scaled = u * GRID
    return tf.round(scaled) / GRID


@tf.function(jit_compile=True)
def train_step(state, goal):
    with tf.GradientTape() as tape:
        torque = to_motor(controller(state))
        nxt = 0.8 * state[:, :1] + torque
        loss = tf.reduce_mean(tf.square(nxt - goal)) + 0.01 * tf.reduce_mean(tf.square(torque))
    grads = tape.gradient(loss, controller.trainable_variables)
    optimizer.apply_gradients(zip(grads, controller.trainable_variables))
    return loss


for it in range(20):
    state = np.random.randn(32, 3).astype("float32")
    loss = train_step(state, 0.5 * state[:, 1:2])
    if it % 5 == 0:
        print("it", it, "loss", round(float(loss), 4))
