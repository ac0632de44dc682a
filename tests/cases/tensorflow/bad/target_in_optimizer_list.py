import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(608)
rng = np.random.default_rng(608)


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
weights = q_net.trainable_variables + target_net.trainable_variables
for step in range(10):
    s, a, r, s2, done = batch()
    with tf.GradientTape() as tape:
        y = r + 0.97 * (1.0 - done) * tf.reduce_max(target_net(s2), axis=1)
        q = tf.gather(q_net(s), a, batch_dims=1)
        loss = tf.reduce_mean(tf.square(y - q))
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    if step % 3 == 2:
        target_net.set_weights(q_net.get_weights())
print("loss", round(float(loss), 4))
