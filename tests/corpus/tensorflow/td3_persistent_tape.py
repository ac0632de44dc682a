import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 7
tf.keras.utils.set_random_seed(SEED)


def mlp(n_in, n_out, activation=None):
    i = keras.Input((n_in,))
    h = keras.layers.Dense(24, activation="relu")(i)
    h = keras.layers.Dense(24, activation="relu")(h)
    return keras.Model(i, keras.layers.Dense(n_out, activation=activation)(h))


class TD3:
    def __init__(self, obs, act):
        self.nets = {"pi": mlp(obs, act, "tanh"), "q1": mlp(obs + act, 1), "q2": mlp(obs + act, 1)}
        self.targets = {k: keras.models.clone_model(v) for k, v in self.nets.items()}
        for k in self.nets:
            self.targets[k].set_weights(self.nets[k].get_weights())
        self.opts = {k: keras.optimizers.Adam(1e-3) for k in self.nets}
        self.calls = 0

    @tf.function
    def _critics(self, s, a, r, s2, d):
        noise = tf.clip_by_value(tf.random.normal(tf.shape(a), stddev=0.2), -0.5, 0.5)
        a2 = tf.clip_by_value(self.targets["pi"](s2) + noise, -1.0, 1.0)
        x2 = tf.concat([s2, a2], 1)
        y = tf.stop_gradient(r + 0.97 * (1.0 - d) * tf.minimum(self.targets["q1"](x2), self.targets["q2"](x2)))
        x = tf.concat([s, a], 1)
        with tf.GradientTape(persistent=True) as tape:
            l1 = tf.reduce_mean(tf.square(self.nets["q1"](x) - y))
            l2 = tf.reduce_mean(tf.square(self.nets["q2"](x) - y))
        for k, loss in (("q1", l1), ("q2", l2)):
            v = self.nets[k].trainable_variables
            self.opts[k].apply_gradients(zip(tape.gradient(loss, v), v))
        del tape
        return l1 + l2

    @tf.function
    def _actor(self, s):
        v = self.nets["pi"].trainable_variables
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            for w in v:
                tape.watch(w.value)
            loss = -tf.reduce_mean(self.nets["q1"](tf.concat([s, self.nets["pi"](s)], 1)))
        self.opts["pi"].apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    @tf.function
    def _polyak(self, tau=0.05):
        for k in self.nets:
            for t, o in zip(self.targets[k].variables, self.nets[k].variables):
                t.assign(t * (1.0 - tau) + o * tau)

    def train(self, batch):
        self.calls += 1
        lc = self._critics(*batch)
        la = None
        if self.calls % 2 == 0:
            la = float(self._actor(batch[0]))
            self._polyak()
        return float(lc), la


agent, data = TD3(3, 2), []
s = np.zeros(3, np.float32)
for t in range(100):
    a = np.clip(agent.nets["pi"](s[None])[0].numpy() + 0.2 * np.random.randn(2), -1, 1).astype(np.float32)
    s2 = (0.8 * s + 0.2 * np.random.randn(3)).astype(np.float32)
    data.append((s, a, np.float32([-np.square(a - s[:2]).sum()]), s2, np.float32([t % 20 == 19])))
    s = s2
    if t >= 40 and t % 5 == 0:
        batch = [tf.constant(np.stack(c)) for c in zip(*[data[i] for i in np.random.randint(len(data), size=32)])]
        print(t, agent.train(batch))
