import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(619)
rng = np.random.default_rng(619)


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


def log_prob(logits, a):
    return tf.reduce_sum(tf.one_hot(a, 3) * tf.nn.log_softmax(logits), axis=1)


@tf.function
def step(s, a, adv, old):
    with tf.GradientTape() as tape:
        ratio = tf.exp(log_prob(policy(s), a) - old)
        low = tf.where(adv > 0, 1.2 * adv, 0.8 * adv)
        loss = -tf.reduce_mean(tf.minimum(ratio * adv, low))
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


for it in range(5):
    s, a, r, _, _ = batch()
    old = log_prob(policy(s), a)
    for epoch in range(2):
        loss = step(s, a, r, old)
print("loss", round(float(loss), 4))
