"""The entropy of a compiled policy takes the logarithm of probabilities that may be zero."""

import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(37)

policy = keras.Sequential([layers.Input((4,)), layers.Dense(32, "relu"), layers.Dense(2)])
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def update(obs, weight):
    with tf.GradientTape() as tape:
        probs = tf.nn.softmax(policy(obs) * 200.0)
        entropy = -tf.reduce_sum(probs * tf.math.log(probs), axis=1)
        loss = -tf.reduce_mean(probs[:, 0] * weight + 0.01 * entropy)
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
    return loss


for step in range(30):
    loss = update(10.0 * tf.random.normal((32, 4)), tf.random.normal((32,)))
print("loss", float(loss))
