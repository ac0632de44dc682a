import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(3)
N_QUANT, N_ACT, GAMMA = 8, 3, 0.9
TAUS = tf.constant((np.arange(N_QUANT) + 0.5) / N_QUANT, tf.float32)


class QuantileAgent(keras.Model):
    def __init__(self):
        super().__init__()
        self.online = self._make("online")
        self.target = self._make("target")
        self.target.trainable = False
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def _make(self, name):
        return keras.Sequential([keras.Input((5,)), keras.layers.Dense(32, activation="relu"),
                                 keras.layers.Dense(N_ACT * N_QUANT), keras.layers.Reshape((N_ACT, N_QUANT))], name=name)

    def call(self, x, training=False):
        return tf.reduce_mean(self.online(x, training=training), axis=-1)

    def sync(self):
        self.target.set_weights(self.online.get_weights())

    @property
    def metrics(self):
        return [self.loss_tracker]

    def train_step(self, data):
        s, a, r, s2, d = data
        nxt = self.target(s2)
        star = tf.argmax(tf.reduce_mean(nxt, -1), -1, output_type=tf.int32)
        target = r[:, None] + GAMMA * (1.0 - d)[:, None] * tf.gather(nxt, star, axis=1, batch_dims=1)
        with tf.GradientTape() as tape:
            theta = tf.gather(self.online(s, training=True), a, axis=1, batch_dims=1)
            u = target[:, None, :] - theta[:, :, None]
            huber = tf.where(tf.abs(u) < 1.0, 0.5 * u ** 2, tf.abs(u) - 0.5)
            weight = tf.abs(TAUS[None, :, None] - tf.cast(u < 0.0, tf.float32))
            loss = tf.reduce_mean(tf.reduce_sum(tf.reduce_mean(weight * huber, axis=2), axis=1))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


class SyncTarget(keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every, self.seen = every, 0

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen % self.every == 0:
            self.model.sync()


def transitions(n=256):
    s = np.random.randn(n, 5).astype("float32")
    a = np.random.randint(N_ACT, size=n).astype("int32")
    r = (s[np.arange(n), a] + 0.3 * np.random.randn(n)).astype("float32")
    return s, a, r, np.roll(s, 1, axis=0), (np.random.rand(n) < 0.1).astype("float32")


agent = QuantileAgent()
agent.sync()
agent.compile(optimizer=keras.optimizers.Adam(3e-3))
data = tf.data.Dataset.from_tensor_slices(transitions()).shuffle(256, seed=1).batch(32, drop_remainder=True)
history = agent.fit(data.prefetch(1), epochs=4, verbose=0, callbacks=[SyncTarget(6)])
print("loss", [round(x, 3) for x in history.history["loss"]])
probe = transitions(64)[0]
print("greedy matches", float(np.mean(agent(probe).numpy().argmax(1) == probe[:, :N_ACT].argmax(1))))
