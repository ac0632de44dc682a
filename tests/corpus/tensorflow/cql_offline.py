import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(23)
OBS, N_ACT, GAMMA, CQL_WEIGHT = 6, 4, 0.95, 0.5


class Encoder(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.d1 = keras.layers.Dense(24, activation="relu")
        self.d2 = keras.layers.Dense(12, activation="relu")

    def call(self, x):
        return self.d2(self.d1(x))


class QNet(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.encoder = Encoder(name="encoder")
        self.head = keras.layers.Dense(N_ACT, name="head")

    def call(self, x):
        return self.head(self.encoder(x))


net, target = QNet(name="net"), QNet(name="target")
for m in (net, target):
    m(tf.zeros((1, OBS)))
target.set_weights(net.get_weights())
optimizer = keras.optimizers.Adam(2e-3)


@tf.function
def train(s, a, r, s2, d):
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            next_q = target(s2)
            y = r + GAMMA * (1.0 - d) * tf.reduce_max(next_q, axis=1)
            h = net.encoder(s)
        q_all = net.head(h)
        q = tf.reduce_sum(q_all * tf.one_hot(a, N_ACT), axis=1)
        td_loss = tf.reduce_mean(tf.square(y - q))
        conservative = tf.reduce_mean(tf.reduce_logsumexp(q_all, axis=1) - q)
        loss = td_loss + CQL_WEIGHT * conservative
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return td_loss, conservative


n = 512
logged_s = np.random.randn(n, OBS).astype("float32")
good = np.abs(logged_s[:, :N_ACT]).argmax(1)
logged_a = np.where(np.random.rand(n) < 0.6, good, np.random.randint(N_ACT, size=n)).astype("int32")
logged_r = (logged_a == good).astype("float32")
logged_d = (np.random.rand(n) < 0.1).astype("float32")
data = tf.data.Dataset.from_tensor_slices((logged_s, logged_a, logged_r, np.roll(logged_s, -1, 0), logged_d))
data = data.shuffle(n, seed=2).batch(64)

for epoch in range(5):
    for batch in data:
        td, cons = train(*batch)
    target.set_weights(net.get_weights())
    greedy = net(logged_s).numpy().argmax(1)
    print("epoch", epoch, "td", round(float(td), 4), "cql", round(float(cons), 4), "acc", (greedy == good).mean())
