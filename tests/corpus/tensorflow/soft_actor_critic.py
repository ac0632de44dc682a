import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow import keras

tfd = tfp.distributions
tf.keras.utils.set_random_seed(5)


def mlp(sizes, name):
    layers = [keras.layers.Dense(s, activation="relu") for s in sizes[1:-1]]
    return keras.Sequential([keras.Input((sizes[0],)), *layers, keras.layers.Dense(sizes[-1])], name=name)


class SAC:
    def __init__(self, obs_dim, act_dim, lr=1e-3, gamma=0.95, tau=0.01):
        self.act_dim, self.gamma, self.tau = act_dim, gamma, tau
        self.policy = mlp([obs_dim, 24, 2 * act_dim], "policy")
        self.q1, self.q2 = (mlp([obs_dim + act_dim, 24, 1], n) for n in ("q1", "q2"))
        self.q1_t, self.q2_t = (mlp([obs_dim + act_dim, 24, 1], n) for n in ("q1_t", "q2_t"))
        self.q1_t.set_weights(self.q1.get_weights())
        self.q2_t.set_weights(self.q2.get_weights())
        self.log_alpha = tf.Variable(-1.0, name="log_alpha")
        self.pi_opt, self.q_opt, self.alpha_opt = (keras.optimizers.Adam(lr) for _ in range(3))

    def sample(self, obs):
        mu, log_std = tf.split(self.policy(obs), 2, axis=-1)
        dist = tfd.MultivariateNormalDiag(mu, tf.exp(tf.clip_by_value(log_std, -5.0, 2.0)))
        u = dist.sample()
        a = tf.tanh(u)
        logp = dist.log_prob(u) - tf.reduce_sum(tf.math.log(1.0 - a ** 2 + 1e-6), axis=-1)
        return a, logp[:, None]

    @staticmethod
    def q(net, obs, act):
        return net(tf.concat([obs, act], axis=-1))

    @tf.function
    def update(self, obs, act, rew, nxt, done):
        new_act, logp = self.sample(obs)
        alpha = tf.exp(self.log_alpha)

        nxt_act, nxt_logp = self.sample(nxt)
        nxt_q = tf.minimum(self.q(self.q1_t, nxt, nxt_act), self.q(self.q2_t, nxt, nxt_act))
        backup = rew + self.gamma * (1.0 - done) * (nxt_q - alpha * nxt_logp)
        q_vars = self.q1.trainable_variables + self.q2.trainable_variables
        with tf.GradientTape() as tape:
            q_loss = tf.reduce_mean((self.q(self.q1, obs, act) - backup) ** 2)
            q_loss += tf.reduce_mean((self.q(self.q2, obs, act) - backup) ** 2)
        self.q_opt.apply_gradients(zip(tape.gradient(q_loss, q_vars), q_vars))

        with tf.GradientTape() as tape:
            q_new = tf.minimum(self.q(self.q1, obs, new_act), self.q(self.q2, obs, new_act))
            pi_loss = tf.reduce_mean(alpha * logp - q_new)
        pi_vars = self.policy.trainable_variables
        self.pi_opt.apply_gradients(zip(tape.gradient(pi_loss, pi_vars), pi_vars))

        with tf.GradientTape() as tape:
            alpha_loss = -tf.reduce_mean(tf.exp(self.log_alpha) * (logp - self.act_dim))
        self.alpha_opt.apply_gradients(zip(tape.gradient(alpha_loss, [self.log_alpha]), [self.log_alpha]))

        for t, o in zip(self.q1_t.variables + self.q2_t.variables, self.q1.variables + self.q2.variables):
            t.assign((1.0 - self.tau) * t + self.tau * o)
        return q_loss, pi_loss


sac = SAC(3, 1)
replay = []
obs = np.random.randn(3).astype(np.float32)
for t in range(80):
    a = sac.sample(obs[None])[0].numpy()[0] if t > 40 else np.random.uniform(-1, 1, 1).astype(np.float32)
    nxt = (0.9 * obs + 0.1 * np.random.randn(3)).astype(np.float32)
    replay.append((obs, a, np.float32([-abs(a[0] - obs[0])]), nxt, np.float32([0.0])))
    obs = nxt
    if t > 40 and t % 4 == 0:
        idx = np.random.randint(len(replay), size=32)
        q_loss, pi_loss = sac.update(*(tf.constant(np.stack(c)) for c in zip(*[replay[i] for i in idx])))
        print(t, float(q_loss), float(pi_loss))
