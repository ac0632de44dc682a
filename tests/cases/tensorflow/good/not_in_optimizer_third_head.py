import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras.layers import Dense

keras.utils.set_random_seed(336)

body = keras.Sequential([keras.Input((3,)), Dense(24, activation="tanh")])
mu_head = keras.Sequential([keras.Input((24,)), Dense(1)])
log_std_head = keras.Sequential([keras.Input((24,)), Dense(1)])
value_head = keras.Sequential([keras.Input((24,)), Dense(1)])
optimizer = keras.optimizers.Adam(3e-3)
params = [v for m in (body, mu_head, log_std_head, value_head) for v in m.trainable_variables]


def forward(obs):
    h = body(obs)
    return mu_head(h), tf.clip_by_value(log_std_head(h), -3.0, 1.0), value_head(h)


@tf.function
def update(obs, act, ret):
    with tf.GradientTape() as tape:
        mu, log_std, v = forward(obs)
        logp = -0.5 * tf.square((act - mu) / tf.exp(log_std)) - log_std
        adv = tf.stop_gradient(ret - v)
        loss = -tf.reduce_mean(logp * adv) + 0.5 * tf.reduce_mean(tf.square(ret - v))
    optimizer.apply_gradients(zip(tape.gradient(loss, params), params))
    return loss


for it in range(20):
    obs = np.random.randn(64, 3).astype("float32")
    mu, log_std, _ = forward(obs)
    act = mu.numpy() + np.exp(log_std) * np.random.randn(64, 1)
    ret = -np.abs(act - obs[:, :1])
    loss = update(obs, tf.cast(act, tf.float32), tf.cast(ret, tf.float32))
    if it % 5 == 0:
        print("it", it, "return", round(float(ret.mean()), 3), "std", round(float(np.exp(log_std).mean()), 3))
