import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

import tensorflow_probability as tfp

keras.utils.set_random_seed(612)
rng = np.random.default_rng(612)
mean_net = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(2)])
optimizer = keras.optimizers.Adam(1e-3)
for it in range(10):
    s = tf.constant(rng.normal(size=(32, 3)), tf.float32)
    with tf.GradientTape() as tape:
        dist = tfp.distributions.Normal(mean_net(s), 0.3)
        action = dist.sample()
        reward = tf.constant(-np.square(action.numpy()).sum(-1))
        log_prob = tf.reduce_sum(dist.log_prob(action), -1)
        loss = -tf.reduce_mean(log_prob * reward)
    grads = tape.gradient(loss, mean_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, mean_net.trainable_variables))
print("loss", round(float(loss), 4))
