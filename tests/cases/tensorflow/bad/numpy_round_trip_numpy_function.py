import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(308)

actor = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1, activation="tanh")])
optimizer = keras.optimizers.Adam(5e-3)


def simulate(state, action):
    position, speed = tf.split(state, 2, axis=1)
    speed = 0.9 * speed + 0.3 * action
    return tf.concat([position + speed, speed], axis=1)


def model_step(state, action):
    nxt = tf.numpy_function(simulate, [state, action], tf.float32)
    return tf.ensure_shape(nxt, (None, 2))


@tf.function
def train(state):
    with tf.GradientTape() as tape:
        cost = 0.0
        for _ in range(3):
            state = model_step(state, actor(state))
            cost += tf.reduce_mean(tf.reduce_sum(tf.square(state), axis=1))
    grads = tape.gradient(cost, actor.trainable_variables)
    optimizer.apply_gradients(zip(grads, actor.trainable_variables))
    return cost


for it in range(20):
    start = np.random.uniform(-1, 1, (32, 2)).astype("float32")
    cost = train(start)
    if it % 5 == 0:
        print("it", it, "cost", round(float(cost), 4))
