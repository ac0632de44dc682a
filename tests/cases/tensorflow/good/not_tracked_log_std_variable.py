import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(334)


class GaussianPolicy(keras.Model):
    def __init__(self, act_dim):
        super().__init__()
        self.body = keras.layers.Dense(24, activation="tanh")
        self.mu = keras.layers.Dense(act_dim)
        self.log_std = self.add_weight(shape=(act_dim,), initializer=keras.initializers.Constant(-0.5), name="log_std")

    def call(self, obs):
        mu = self.mu(self.body(obs))
        return mu, tf.exp(self.log_std) * tf.ones_like(mu)


def log_prob(dist, act):
    mu, std = dist
    return -tf.reduce_sum(0.5 * tf.square((act - mu) / std) + tf.math.log(std) + 0.919, axis=1)


policy = GaussianPolicy(2)
policy(tf.zeros((1, 3)))
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def ppo_step(obs, act, old_logp, adv):
    with tf.GradientTape() as tape:
        ratio = tf.exp(log_prob(policy(obs), act) - old_logp)
        clipped = tf.clip_by_value(ratio, 0.8, 1.2)
        loss = -tf.reduce_mean(tf.minimum(ratio * adv, clipped * adv))
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


for it in range(8):
    obs = np.random.randn(64, 3).astype("float32")
    mu, std = policy(obs)
    act = mu.numpy() + std.numpy() * np.random.randn(64, 2).astype("float32")
    old_logp = log_prob((mu, std), act).numpy()
    rew = -np.sum((act - obs[:, :2]) ** 2, axis=1)
    adv = ((rew - rew.mean()) / rew.std()).astype("float32")
    for _ in range(3):
        loss = ppo_step(obs, act, old_logp, adv)
    print("it", it, "reward", round(float(rew.mean()), 3), "std", std.numpy()[0].round(3))
