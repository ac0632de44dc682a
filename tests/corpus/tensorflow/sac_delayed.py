import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from tensorflow import keras

tfd = tfp.distributions
keras.utils.set_random_seed(77)
OBS, ACT, GAMMA, RHO, POLICY_DELAY = 3, 2, 0.95, 0.97, 2


def mlp(n_in, n_out, name):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(24, "relu"), keras.layers.Dense(24, "relu"),
                             keras.layers.Dense(n_out)], name=name)


class SquashedPolicy(keras.Model):
    def __init__(self):
        super().__init__(name="policy")
        self.net = mlp(OBS, 2 * ACT, "policy_net")

    def call(self, obs):
        mu, log_std = tf.split(self.net(obs), 2, axis=-1)
        dist = tfd.MultivariateNormalDiag(mu, tf.exp(tf.clip_by_value(log_std, -5.0, 2.0)))
        u = dist.sample()
        logp = dist.log_prob(u) - tf.reduce_sum(2.0 * (np.log(2.0) - u - tf.nn.softplus(-2.0 * u)), axis=-1)
        return tf.tanh(u), logp


policy = SquashedPolicy()
policy(tf.zeros((1, OBS)))
qs = [mlp(OBS + ACT, 1, f"q{i}") for i in range(2)]
targets = [keras.models.clone_model(q) for q in qs]
for t, q in zip(targets, qs):
    t.set_weights(q.get_weights())
log_alpha = tf.Variable(-1.0, name="log_alpha")
q_vars = qs[0].trainable_variables + qs[1].trainable_variables
pi_opt, q_opt, alpha_opt = (keras.optimizers.Adam(lr) for lr in (3e-3, 3e-3, 1e-2))
for opt, variables in ((pi_opt, policy.trainable_variables), (q_opt, q_vars), (alpha_opt, [log_alpha])):
    opt.build(variables)
updates = tf.Variable(0, dtype=tf.int64, trainable=False)


def q_value(net, s, a):
    return tf.squeeze(net(tf.concat([s, a], -1)), -1)


@tf.function
def update(s, a, r, s2, d):
    a2, logp2 = policy(s2)
    backup = r + GAMMA * (1.0 - d) * (
        tf.minimum(q_value(targets[0], s2, a2), q_value(targets[1], s2, a2)) - tf.exp(log_alpha) * logp2)
    with tf.GradientTape() as tape:
        q_loss = tf.add_n([0.5 * tf.reduce_mean((q_value(q, s, a) - backup) ** 2) for q in qs])
    q_opt.apply_gradients(zip(tape.gradient(q_loss, q_vars), q_vars))
    updates.assign_add(1)
    if updates % POLICY_DELAY == 0:
        for _ in range(POLICY_DELAY):
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch([v.value for v in policy.trainable_variables])
                pi, logp = policy(s)
                pi_loss = tf.reduce_mean(
                    tf.exp(log_alpha) * logp - tf.minimum(q_value(qs[0], s, pi), q_value(qs[1], s, pi)))
            grads = tape.gradient(pi_loss, policy.trainable_variables)
            pi_opt.apply_gradients(zip(grads, policy.trainable_variables))
            with tf.GradientTape() as tape:
                alpha_loss = -tf.exp(log_alpha) * tf.reduce_mean(tf.stop_gradient(logp) - float(ACT))
            alpha_opt.apply_gradients([(tape.gradient(alpha_loss, log_alpha), log_alpha)])
    for t, q in zip(targets, qs):
        for vt, v in zip(t.variables, q.variables):
            vt.assign(RHO * vt + (1 - RHO) * v)
    return q_loss


for it in range(40):
    s = np.random.randn(32, OBS).astype("float32")
    a = policy(s)[0].numpy() if it > 10 else np.random.uniform(-1, 1, (32, ACT)).astype("float32")
    r = -np.abs(a - np.tanh(s[:, :2])).sum(1)
    d = (np.random.rand(32) < 0.1).astype("float32")
    loss = update(s, a, r, s + 0.1 * np.random.randn(32, OBS).astype("float32"), d)
    if it % 10 == 0:
        print(it, "q loss", round(float(loss), 3), "alpha", round(float(tf.exp(log_alpha)), 3), "r", r.mean())
