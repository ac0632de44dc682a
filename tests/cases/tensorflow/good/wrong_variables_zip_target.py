import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(337)


def make_q():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2)])


online = make_q()
target = keras.models.clone_model(online)
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(2e-3)


def soft_update(tau=0.05):
    for t, o in zip(target.variables, online.variables):
        t.assign((1 - tau) * t + tau * o)


for it in range(12):
    obs = np.random.randn(32, 4).astype("float32")
    act = tf.argmax(online(obs), axis=1).numpy()
    rew = (act == (obs[:, 0] > 0)).astype("float32")
    nxt = np.random.randn(32, 4).astype("float32")
    backup = rew + 0.9 * tf.reduce_max(target(nxt), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(obs), act, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(q - tf.stop_gradient(backup)))
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    soft_update()
    print("it", it, "reward", rew.mean(), "loss", round(float(loss), 4))
