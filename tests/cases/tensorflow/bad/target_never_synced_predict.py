import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(603)
rng = np.random.default_rng(603)


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


model, model_target = make_net(), make_net()
optimizer = keras.optimizers.Adam(1e-3, clipnorm=1.0)
loss_function = keras.losses.Huber()
for frame in range(1, 13):
    s, a, r, s2, done = batch(16)
    future = model_target.predict(s2, verbose=0)
    updated = r + 0.99 * (1.0 - done) * tf.reduce_max(future, axis=1)
    masks = tf.one_hot(a, 3)
    with tf.GradientTape() as tape:
        q_action = tf.reduce_sum(model(s) * masks, axis=1)
        loss = loss_function(updated, q_action)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if frame % 4 == 0:
        print("frame", frame)
print("loss", round(float(loss), 4))
