import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(4)


def make_model(obs_dim, n_actions):
    obs = layers.Input((obs_dim,))
    body = layers.Dense(32, activation="tanh")(obs)
    logits = layers.Dense(n_actions, name="logits")(body)
    value = layers.Dense(1, name="value")(body)
    return keras.Model(obs, [logits, value])


class Rollout:
    def __init__(self, env, model, horizon=64, gamma=0.99, lam=0.95):
        self.env, self.model, self.horizon, self.gamma, self.lam = env, model, horizon, gamma, lam
        self.obs, _ = env.reset(seed=4)

    def __call__(self):
        rows = []
        for _ in range(self.horizon):
            logits, value = self.model(self.obs[None])
            action = int(tf.random.categorical(logits, 1)[0, 0])
            logp = tf.nn.log_softmax(logits)[0, action].numpy()
            nxt, reward, term, trunc, _ = self.env.step(action)
            rows.append((self.obs, action, logp, float(value[0, 0]), reward, float(term or trunc)))
            self.obs = self.env.reset()[0] if term or trunc else nxt
        obs, act, logp, val, rew, done = (np.array(c, dtype=np.float32) for c in zip(*rows))
        last = float(self.model(self.obs[None])[1][0, 0])
        adv, gae = np.zeros_like(rew), 0.0
        for t in range(self.horizon - 1, -1, -1):
            following = last if t == self.horizon - 1 else val[t + 1]
            delta = rew[t] + self.gamma * following * (1 - done[t]) - val[t]
            gae = delta + self.gamma * self.lam * (1 - done[t]) * gae
            adv[t] = gae
        ret = adv + val
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        return {"obs": obs, "act": act.astype(np.int32), "logp": logp, "adv": adv, "ret": ret}


model = make_model(4, 2)
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def train_minibatch(b):
    with tf.GradientTape() as tape:
        logits, value = model(b["obs"], training=True)
        logp_all = tf.nn.log_softmax(logits)
        logp = tf.gather(logp_all, b["act"], axis=1, batch_dims=1)
        ratio = tf.exp(logp - b["logp"])
        clipped = tf.where(b["adv"] > 0, 1.2 * b["adv"], 0.8 * b["adv"])
        policy_loss = -tf.reduce_mean(tf.minimum(ratio * b["adv"], clipped))
        value_loss = tf.reduce_mean(tf.square(b["ret"] - value[:, 0]))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp_all) * logp_all, axis=1))
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 0.5)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return tf.reduce_mean(b["logp"] - logp), loss


rollout = Rollout(gym.make("CartPole-v1"), model)
for iteration in range(3):
    batch = rollout()
    dataset = tf.data.Dataset.from_tensor_slices(batch).shuffle(64, seed=iteration).batch(32, drop_remainder=True)
    for epoch in range(3):
        kls = []
        for minibatch in dataset:
            kl, loss = train_minibatch(minibatch)
            kls.append(float(kl))
        if np.mean(kls) > 0.05:
            break
    print(f"iteration {iteration} kl {np.mean(kls):.5f} loss {float(loss):.3f}")
