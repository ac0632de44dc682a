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
        log_probs = tf.nn.log_softmax(policy(state))
        chosen = tf.reduce_sum(log_probs * tf.one_hot(action, 3), axis=1)
        entropy = -tf.reduce_sum(tf.exp(log_probs) * log_probs, axis=1)
        policy_loss = -tf.reduce_mean(chosen * returns)
        loss = policy_loss + 0.01 * tf.reduce_mean(entropy)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


for update in range(6):
    state = tf.constant(rng.normal(size=(16, 4)), tf.float32)
    action = tf.constant(rng.integers(3, size=16))
    returns = tf.constant(rng.normal(size=16), tf.float32)
    loss = train(state, action, returns)
print("loss", round(float(loss), 4))
