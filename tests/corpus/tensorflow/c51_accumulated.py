import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(51)
ATOMS, VMIN, VMAX, N_ACT, ACCUM = 11, -2.0, 2.0, 3, 2
SUPPORT = tf.linspace(VMIN, VMAX, ATOMS)
DELTA = (VMAX - VMIN) / (ATOMS - 1)


class Distributional(keras.Model):
    def __init__(self):
        super().__init__()
        self.h = keras.layers.Dense(24, activation="relu")
        self.out = keras.layers.Dense(N_ACT * ATOMS)

    def call(self, obs):
        return tf.reshape(self.out(self.h(obs)), (-1, N_ACT, ATOMS))

    def q(self, obs):
        return tf.reduce_sum(tf.nn.softmax(self(obs)) * SUPPORT, axis=-1)


def project(probs, rewards, gamma=0.9):
    tz = tf.clip_by_value(rewards[:, None] + gamma * SUPPORT[None], VMIN, VMAX)
    b = (tz - VMIN) / DELTA
    low, high = tf.floor(b), tf.math.ceil(b)
    same = tf.cast(tf.equal(low, high), tf.float32)
    to_low = probs * (high - b + same)
    to_high = probs * (b - low)
    l_hot = tf.one_hot(tf.cast(low, tf.int32), ATOMS)
    h_hot = tf.one_hot(tf.cast(high, tf.int32), ATOMS)
    return tf.reduce_sum(to_low[..., None] * l_hot + to_high[..., None] * h_hot, axis=1)


online, target = Distributional(), Distributional()
online(tf.zeros((1, 4))), target(tf.zeros((1, 4)))
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(3e-3)
store = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in online.trainable_variables]


@tf.function
def micro_step(s, a, r, s2):
    with tf.GradientTape() as tape:
        best = tf.argmax(online.q(s2), axis=1)
        p2 = tf.gather(tf.nn.softmax(target(s2)), best, axis=1, batch_dims=1)
        wanted = tf.stop_gradient(project(p2, r))
        logits = tf.gather(online(s), a, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=wanted, logits=logits)) / ACCUM
    for acc, g in zip(store, tape.gradient(loss, online.trainable_variables)):
        acc.assign_add(g)
    return loss


def apply_store():
    optimizer.apply_gradients([(acc.read_value(), v) for acc, v in zip(store, online.trainable_variables)])
    for acc in store:
        acc.assign(tf.zeros_like(acc))


for it in range(12):
    for micro in range(ACCUM):
        s = np.random.randn(16, 4).astype("float32")
        a = np.argmax(online.q(s).numpy() + np.random.gumbel(size=(16, N_ACT)), axis=1)
        r = np.clip(s[np.arange(16), a], -1, 1)
        loss = micro_step(s, a, r, np.random.randn(16, 4).astype("float32"))
    apply_store()
    if it % 4 == 3:
        target.set_weights(online.get_weights())
        print("it", it, "loss", round(float(loss), 4))
