import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(64)


class GaussianActor(keras.Model):
    def __init__(self, act_dim):
        super().__init__()
        self.net = keras.Sequential([layers.Dense(24, activation="relu"), layers.Dense(24, activation="relu")])
        self.mu = layers.Dense(act_dim)
        self.log_std = layers.Dense(act_dim)

    def call(self, obs, deterministic=False):
        h = self.net(obs)
        mu = self.mu(h)
        if deterministic:
            return keras.ops.tanh(mu), None
        std = keras.ops.exp(keras.ops.clip(self.log_std(h), -5.0, 1.0))
        eps = tf.random.normal(tf.shape(mu))
        act = keras.ops.tanh(mu + std * eps)
        logp = -0.5 * eps ** 2 - keras.ops.log(std) - 0.919 - keras.ops.log(1.0 - act ** 2 + 1e-6)
        return act, keras.ops.sum(logp, axis=1, keepdims=True)


class DoubleCritic(keras.Model):
    def __init__(self):
        super().__init__()
        self.heads = [keras.Sequential([layers.Dense(24, activation="relu"), layers.Dense(1)]) for _ in range(2)]

    def call(self, obs, act):
        x = keras.ops.concatenate([obs, act], axis=1)
        return [h(x) for h in self.heads]


actor, critic, critic_target = GaussianActor(1), DoubleCritic(), DoubleCritic()
dummy = tf.zeros((1, 3)), tf.zeros((1, 1))
actor(dummy[0]), critic(*dummy), critic_target(*dummy)
critic_target.set_weights(critic.get_weights())
critic_target.trainable = False
log_alpha = tf.Variable(0.0, name="log_alpha")
opt_actor, opt_critic, opt_alpha = (keras.optimizers.Adam(2e-3) for _ in range(3))


def step(optimizer, tape, loss, variables):
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


@tf.function
def update(obs, act, rew, nxt, done):
    alpha = tf.exp(log_alpha)
    a2, logp2 = actor(nxt)
    q2 = tf.minimum(*critic_target(nxt, a2))
    y = tf.stop_gradient(rew + 0.95 * (1.0 - done) * (q2 - alpha * logp2))
    with tf.GradientTape() as tape:
        critic_loss = tf.add_n([tf.reduce_mean(tf.square(q - y)) for q in critic(obs, act)])
    step(opt_critic, tape, critic_loss, critic.trainable_variables)

    with tf.GradientTape() as tape:
        a, logp = actor(obs)
        actor_loss = tf.reduce_mean(tf.stop_gradient(alpha) * logp - tf.minimum(*critic(obs, a)))
    step(opt_actor, tape, actor_loss, actor.trainable_variables)

    with tf.GradientTape() as tape:
        alpha_loss = -tf.reduce_mean(log_alpha * tf.stop_gradient(logp - 1.0))
    step(opt_alpha, tape, alpha_loss, [log_alpha])

    for t, s in zip(critic_target.weights, critic.weights):
        t.assign(0.98 * t + 0.02 * s)
    return critic_loss, actor_loss


for it in range(25):
    obs = np.random.randn(32, 3).astype("float32")
    act = actor(obs)[0].numpy()
    rew = -np.abs(act - np.tanh(obs[:, :1]))
    losses = update(obs, act, rew, np.random.randn(32, 3).astype("float32"), np.zeros((32, 1), "float32"))
    if it % 5 == 0:
        greedy, _ = actor(obs, deterministic=True)
        print(it, [round(float(x), 4) for x in losses], "alpha", round(float(tf.exp(log_alpha)), 3), "greedy", round(float(np.abs(greedy).mean()), 3))
