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


q_net, target_net = make_net(), make_net()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)

for update in range(8):
    state, following = (tf.constant(rng.normal(size=(16, 4)), tf.float32) for _ in range(2))
    action = tf.constant(rng.integers(3, size=16))
    reward = tf.constant(rng.normal(size=16), tf.float32)
    best = tf.reduce_max(target_net(following), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(state), action, axis=1, batch_dims=1)
        target = tf.stop_gradient(q)
        loss = tf.reduce_mean(tf.square(target - q))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    if update % 3 == 0:
        target_net.set_weights(q_net.get_weights())
print("loss", round(float(loss), 4))
