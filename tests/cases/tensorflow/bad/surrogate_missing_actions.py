import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(617)
rng = np.random.default_rng(617)
policy = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(1e-2)
arms = tf.constant([0.1, 0.5, 0.9])
for it in range(10):
    s = tf.constant(rng.normal(size=(32, 4)), tf.float32)
    with tf.GradientTape() as tape:
        logits = policy(s)
        arm = tf.squeeze(tf.random.categorical(logits, 1), 1)
        reward = tf.gather(arms, arm)
        log_prob = tf.gather(tf.nn.log_softmax(logits), arm, batch_dims=1)
        loss = -tf.reduce_mean(reward)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
print("loss", round(float(loss), 4))
