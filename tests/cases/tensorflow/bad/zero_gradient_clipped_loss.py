import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(348)

q_net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2)])
target_net = keras.models.clone_model(q_net)
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(2e-3)


def td_loss(batch):
    s, a, r, s2, d = batch
    y = r + 0.99 * (1.0 - d) * tf.reduce_max(target_net(s2), axis=1)
    q = tf.gather(q_net(s), a, axis=1, batch_dims=1)
    delta = tf.stop_gradient(y) - q
    return tf.reduce_mean(tf.square(tf.clip_by_value(delta, -1.0, 1.0)))


for it in range(12):
    s, s2 = (np.random.randn(32, 4).astype("float32") for _ in range(2))
    a = np.random.randint(2, size=32)
    r = np.where(a == (s[:, 0] > 0), 100.0, 50.0).astype("float32")
    with tf.GradientTape() as tape:
        loss = td_loss((s, a, r, s2, (np.random.rand(32) < 0.1).astype("float32")))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    if it % 4 == 3:
        target_net.set_weights(q_net.get_weights())
        print("it", it, "loss", round(float(loss), 4))
