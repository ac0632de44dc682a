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


@tf.function
def train(state, action, returns):
    with tf.GradientTape() as tape:
        probs = tf.nn.softmax(policy(state))
        given = probs
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=given)
        loss = tf.reduce_mean(nll * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


for update in range(6):
    state = tf.constant(rng.normal(size=(16, 4)), tf.float32)
    action = tf.constant(rng.integers(3, size=16))
    returns = tf.constant(rng.normal(size=16), tf.float32)
    loss = train(state, action, returns)
print("loss", round(float(loss), 4))
