import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(601)
rng = np.random.default_rng(601)


def make_net(outputs=3):
    return keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(outputs)]
    )


def batch(n=32):
    s, s2 = (tf.constant(rng.normal(size=(n, 4)), tf.float32) for _ in range(2))
    a = tf.constant(rng.integers(3, size=n))
    r = tf.constant(rng.normal(size=n), tf.float32)
    done = tf.constant(rng.random(n) < 0.1, tf.float32)
    return s, a, r, s2, done


q_net, target_net = make_net(), make_net()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()


@tf.function
def train_step(s, a, r, s2, done):
    with tf.GradientTape() as tape:
        best = tf.argmax(q_net(s2), axis=1)
        value = tf.gather(target_net(s2), best, batch_dims=1)
        y = r + 0.97 * (1.0 - done) * value
        q = tf.gather(q_net(s), a, batch_dims=1)
        loss = huber(y, q)
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


for step in range(12):
    loss = train_step(*batch())
    if step % 4 == 3:
        target_net.set_weights(q_net.get_weights())
        print(step, round(float(loss), 4))
