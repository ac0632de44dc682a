import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(66)
OBS, ACT = 3, 1


def dense_net(n_in, widths, n_out, name):
    net = keras.Sequential(name=name)
    net.add(keras.Input((n_in,)))
    for w in widths:
        net.add(keras.layers.Dense(w, activation="tanh"))
    net.add(keras.layers.Dense(n_out))
    return net


class GAIL:
    def __init__(self):
        self.policy = dense_net(OBS, [16], ACT, "policy")
        self.log_std = tf.Variable(tf.fill((ACT,), -0.5), name="log_std")
        self.embed = dense_net(OBS + ACT, [16], 8, "embed")
        self.disc = dense_net(8, [16], 1, "disc")
        self.policy_opt = keras.optimizers.Adam(2e-3)
        self.disc_opt = keras.optimizers.Adam(2e-3)

    def logit(self, s, a):
        return self.disc(self.embed(tf.concat([s, a], 1)))

    def penalty(self, s, a, s_e, a_e):
        mix = tf.random.uniform((tf.shape(s)[0], 1))
        ms, ma = mix * s + (1 - mix) * s_e, mix * a + (1 - mix) * a_e
        with tf.GradientTape() as inner:
            inner.watch([ms, ma])
            out = self.logit(ms, ma)
        gs, ga = inner.gradient(out, [ms, ma])
        norm = tf.sqrt(tf.reduce_sum(gs ** 2, 1) + tf.reduce_sum(ga ** 2, 1) + 1e-8)
        return tf.reduce_mean((norm - 1.0) ** 2)

    @tf.function
    def train_disc(self, s, a, s_e, a_e):
        with tf.GradientTape() as tape:
            real, fake = self.logit(s_e, a_e), self.logit(s, a)
            bce = tf.nn.sigmoid_cross_entropy_with_logits
            loss = tf.reduce_mean(bce(tf.ones_like(real), real)) + tf.reduce_mean(bce(tf.zeros_like(fake), fake))
            loss += 10.0 * self.penalty(s, a, s_e, a_e)
        variables = self.disc.trainable_variables
        self.disc_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def train_policy(self, s, a, adv):
        variables = self.policy.trainable_variables + [self.log_std]
        with tf.GradientTape() as tape:
            z = (a - self.policy(s)) / tf.exp(self.log_std)
            logp = -tf.reduce_sum(0.5 * z ** 2 + self.log_std, axis=1)
            loss = -tf.reduce_mean(logp * adv)
        self.policy_opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def act(self, s):
        return self.policy(s).numpy() + np.exp(self.log_std.numpy()) * np.random.randn(len(s), ACT).astype("float32")


gail = GAIL()
for it in range(12):
    s, s_e = (np.random.randn(32, OBS).astype("float32") for _ in range(2))
    a, a_e = gail.act(s), np.tanh(s_e[:, :1])
    d_loss = gail.train_disc(s, a, s_e, a_e)
    reward = tf.math.softplus(gail.logit(s, a)).numpy()[:, 0]
    p_loss = gail.train_policy(s, a, (reward - reward.mean()) / (reward.std() + 1e-6))
    if it % 4 == 3:
        print(f"it {it} disc {float(d_loss):.3f} policy {float(p_loss):.3f} reward {reward.mean():.3f}")
