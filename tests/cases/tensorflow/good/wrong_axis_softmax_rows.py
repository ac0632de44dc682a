import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)


def make_net(outputs=3):
    return keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(outputs)]
    )


policy = make_net()
optimizer = keras.optimizers.Adam(1e-3)

for update in range(6):
    state = tf.constant(rng.normal(size=(16, 4)), tf.float32)
    action = tf.constant(rng.integers(3, size=16))
    returns = tf.constant(rng.normal(size=16), tf.float32)
    with tf.GradientTape() as tape:
        probs = tf.nn.softmax(policy(state), axis=-1)
        picked = tf.reduce_sum(probs * tf.one_hot(action, 3), axis=1)
        loss = -tf.reduce_mean(tf.math.log(picked + 1e-8) * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
print("loss", round(float(loss), 4))
