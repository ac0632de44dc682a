import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
import tf_keras as keras

tfd = tfp.distributions
tf.random.set_seed(12)
np.random.seed(12)
OBS, N_ACT, GAMMA = 5, 4, 0.9


def mlp(out, n_in):
    return keras.Sequential([keras.layers.Dense(24, activation="relu", input_shape=(n_in,)),
                             keras.layers.Dense(out)])


class GumbelActor:
    def __init__(self, temperature=0.7):
        self.net = mlp(N_ACT, OBS)
        self.temperature = temperature

    def draw(self, s):
        logits = self.net(s) / self.temperature
        dist = tfd.OneHotCategorical(logits=logits, dtype=tf.float32)
        return dist.sample(), logits


actor = GumbelActor()
critic, critic_target = mlp(1, OBS + N_ACT), mlp(1, OBS + N_ACT)
critic_target.set_weights(critic.get_weights())
actor_opt, critic_opt = keras.optimizers.Adam(3e-3), keras.optimizers.Adam(3e-3)


def q(net, s, a):
    return net(tf.concat([s, a], axis=1))[:, 0]


def update_critic(s, a, r, s2):
    a2, _ = actor.draw(s2)
    y = r + GAMMA * q(critic_target, s2, a2)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((q(critic, s, a) - y) ** 2)
    critic_opt.minimize(loss, critic.trainable_variables, tape=tape)
    return loss


def update_actor(s):
    with tf.GradientTape() as tape:
        a, logits = actor.draw(s)
        loss = -tf.reduce_mean(q(critic, s, a))
    actor_opt.minimize(loss, actor.net.trainable_variables, tape=tape)
    return loss


for it in range(20):
    s = np.random.randn(32, OBS).astype("float32")
    a = np.eye(N_ACT, dtype="float32")[np.random.randint(N_ACT, size=32)]
    r = (a * s[:, :N_ACT]).sum(1)
    s2 = np.random.randn(32, OBS).astype("float32")
    c_loss = update_critic(s, a, r, s2)
    a_loss = update_actor(s)
    for t, o in zip(critic_target.weights, critic.weights):
        t.assign(0.95 * t + 0.05 * o)
    print(it, "critic", float(c_loss), "actor", float(a_loss))
