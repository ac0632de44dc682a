import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(610)
rng = np.random.default_rng(610)


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


policy = make_net()
optimizer = keras.optimizers.Adam(1e-3)
for it in range(10):
    s, a, r, _, _ = batch()
    with tf.GradientTape() as tape:
        neglogp = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=policy(s))
        loss = tf.reduce_mean(neglogp * r)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    grads, norm = tf.clip_by_global_norm(grads, 0.5)
print("loss", round(float(loss), 4))
