import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(17)


class RandomNetworkDistillation:
    """Exploration bonus: error of predicting a fixed random network."""

    def __init__(self, obs_dim, feat=8, lr=1e-3):
        self.target = self._net(obs_dim, feat, "rnd_target")
        self.predictor = self._net(obs_dim, feat, "rnd_predictor")
        for net in (self.target, self.predictor):
            net.trainable = False
        self.opt = keras.optimizers.Adam(lr)

    def _net(self, obs_dim, feat, name):
        return keras.Sequential([keras.Input((obs_dim,)), layers.Dense(16, activation="relu"), layers.Dense(feat)], name=name)

    def reward(self, obs):
        err = tf.reduce_mean(tf.square(self.predictor(obs) - self.target(obs)), axis=1)
        return err.numpy()

    def update(self, obs):
        wanted = tf.stop_gradient(self.target(obs))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.predictor(obs) - wanted))
        weights = self.predictor.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return float(loss)


class Policy:
    def __init__(self, obs_dim, n_act):
        self.net = keras.Sequential([keras.Input((obs_dim,)), layers.Dense(16, activation="tanh"), layers.Dense(n_act)], name="policy")
        self.opt = keras.optimizers.Adam(3e-3)

    def act(self, obs):
        return tf.random.categorical(self.net(obs), 1)[:, 0].numpy()

    def update(self, obs, act, adv):
        with tf.GradientTape() as tape:
            xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=self.net(obs))
            loss = tf.reduce_mean(xent * adv)
        g = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(g, self.net.trainable_variables))
        return float(loss)


policy, bonus = Policy(4, 2), RandomNetworkDistillation(4)
for it in range(12):
    obs = np.random.randn(32, 4).astype(np.float32)
    act = policy.act(obs)
    total = (act == (obs[:, 0] > 0)) + 0.5 * bonus.reward(obs)
    adv = ((total - total.mean()) / (total.std() + 1e-6)).astype(np.float32)
    pl = policy.update(obs, act, adv)
    bl = bonus.update(obs)
    print(f"iter {it}: policy {pl:+.4f} rnd {bl:.4f}")
