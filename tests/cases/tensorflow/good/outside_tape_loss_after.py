import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(322)


def build():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2)])


q_net, target_net = build(), build()
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
mse = keras.losses.MeanSquaredError()
rng = np.random.default_rng(322)
memory = []


def train_step(batch, gamma=0.95):
    s, a, r, s2, d = (np.stack(x) for x in zip(*batch))
    y = r + gamma * np.max(target_net(s2), axis=1) * (1 - d)
    with tf.GradientTape() as tape:
        q = q_net(s, training=True)
        qa = tf.reduce_sum(q * tf.one_hot(a, 2), axis=1)
        loss = mse(y, qa)
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return float(loss)


state = rng.normal(size=4).astype("float32")
for step in range(80):
    action = int(rng.integers(2)) if rng.random() < 0.3 else int(np.argmax(q_net(state[None])[0]))
    nxt = (0.8 * state + 0.2 * rng.normal(size=4)).astype("float32")
    memory.append((state, action, np.float32(action == (state[0] > 0)), nxt, np.float32(rng.random() < 0.05)))
    state = nxt
    if step >= 32 and step % 4 == 0:
        idx = rng.integers(len(memory), size=16)
        loss = train_step([memory[i] for i in idx])
    if step % 40 == 39:
        target_net.set_weights(q_net.get_weights())
        print("step", step, "loss", round(loss, 4))
