import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(55)
N_ACT, N_QUANT = 3, 5
TAUS = tf.constant((np.arange(N_QUANT) + 0.5) / N_QUANT, tf.float32)
MINIBATCH, ACCUM = 32, 8


def build_net():
    inp = keras.Input((4,))
    x = keras.layers.Dense(24, activation="relu")(inp)
    x = keras.layers.Dense(N_ACT * N_QUANT)(x)
    return keras.Model(inp, keras.layers.Reshape((N_ACT, N_QUANT))(x))


online, target = build_net(), build_net()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
accumulated = [tf.Variable(tf.zeros_like(v.value), trainable=False) for v in online.trainable_variables]


def quantile_huber(pred, wanted):
    diff = wanted[:, None, :] - pred[:, :, None]
    huber = tf.where(tf.abs(diff) < 1.0, 0.5 * diff ** 2, tf.abs(diff) - 0.5)
    weight = tf.abs(TAUS[None, :, None] - tf.cast(diff < 0.0, tf.float32))
    return tf.reduce_mean(tf.reduce_sum(tf.stop_gradient(weight) * huber, axis=1))


@tf.function
def accumulate(s, a, r, s2):
    nq = target(s2)
    best = tf.argmax(tf.reduce_mean(nq, -1), axis=1)
    backup = r[:, None] + 0.9 * tf.gather(nq, best, axis=1, batch_dims=1)
    with tf.GradientTape() as tape:
        pred = tf.gather(online(s), a, axis=1, batch_dims=1)
        loss = quantile_huber(pred, backup) / ACCUM
    grads = tape.gradient(loss, online.trainable_variables)
    for acc, g in zip(accumulated, grads):
        acc.assign_add(g)
    return loss


@tf.function
def apply_accumulated():
    optimizer.apply_gradients(zip(accumulated, online.trainable_variables))
    for acc in accumulated:
        acc.assign(tf.zeros_like(acc))


def run_epoch(data):
    losses = []
    for i in range(len(data[0]) // MINIBATCH):
        batch = [x[i * MINIBATCH:(i + 1) * MINIBATCH] for x in data]
        losses.append(float(accumulate(*batch)))
        if (i + 1) % ACCUM == 0:
            apply_accumulated()
    return np.mean(losses)


for epoch in range(5):
    s = np.random.randn(128, 4).astype("float32")
    a = np.random.randint(N_ACT, size=128)
    r = s[np.arange(128), a]
    loss = run_epoch((s, a, r, np.random.randn(128, 4).astype("float32")))
    target.set_weights(online.get_weights())
    print("epoch", epoch, "loss", round(float(loss), 5))
