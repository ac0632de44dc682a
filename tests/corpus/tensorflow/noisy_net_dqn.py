import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(77)


class NoisyDense(keras.layers.Layer):
    """Factorised Gaussian noise, Fortunato et al. 2018."""

    def __init__(self, units, sigma0=0.5, **kwargs):
        super().__init__(**kwargs)
        self.units, self.sigma0 = units, sigma0

    def build(self, input_shape):
        n = int(input_shape[-1])
        bound = 1.0 / np.sqrt(n)
        init = keras.initializers.RandomUniform(-bound, bound)
        self.mu_w = self.add_weight(name="mu_w", shape=(n, self.units), initializer=init)
        self.mu_b = self.add_weight(name="mu_b", shape=(self.units,), initializer=init)
        self.sigma_w = tf.Variable(np.full((n, self.units), self.sigma0 * bound, np.float32), name="sigma_w")
        self.sigma_b = tf.Variable(np.full(self.units, self.sigma0 * bound, np.float32), name="sigma_b")

    @staticmethod
    def _f(x):
        return tf.sign(x) * tf.sqrt(tf.abs(x))

    def call(self, x, training=False):
        if not training:
            return x @ self.mu_w + self.mu_b
        e_in = self._f(tf.random.normal((int(x.shape[-1]), 1)))
        e_out = self._f(tf.random.normal((1, self.units)))
        w = self.mu_w + self.sigma_w * (e_in * e_out)
        return x @ w + self.mu_b + self.sigma_b * e_out[0]


class QNet(keras.Model):
    def __init__(self, n_act):
        super().__init__()
        self.body = keras.layers.Dense(24, activation="relu")
        self.noisy = NoisyDense(n_act)

    def call(self, obs, training=False):
        return self.noisy(self.body(obs), training=training)


q_net, target_net = QNet(3), QNet(3)
for net in (q_net, target_net):
    net(tf.zeros((1, 4)))
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(3e-3)
huber = keras.losses.Huber()


@tf.function
def learn(obs, act, rew, nxt):
    best = tf.argmax(q_net(nxt, training=True), axis=1)
    y = rew + 0.9 * tf.gather(target_net(nxt, training=True), best, axis=1, batch_dims=1)
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(obs, training=True), act, axis=1, batch_dims=1)
        loss = huber(y, q)
    grads = tape.gradient(loss, q_net.trainable_weights)
    optimizer.apply_gradients(zip(grads, q_net.trainable_weights))
    return loss


for it in range(20):
    obs = np.random.randn(32, 4).astype("float32")
    act = np.argmax(q_net(obs, training=True), axis=1)
    loss = learn(obs, act, obs[np.arange(32), act], np.random.randn(32, 4).astype("float32"))
    if it % 5 == 4:
        target_net.set_weights(q_net.get_weights())
        print("it", it, "loss", round(float(loss), 4))
