import collections

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(14)
T, B, N_ACT = 6, 8, 3
VTrace = collections.namedtuple("VTrace", "vs pg_advantages")


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.torso = keras.layers.Dense(24, activation="relu")
        self.pi = keras.layers.Dense(N_ACT)
        self.v = keras.layers.Dense(1)

    def call(self, obs):
        h = self.torso(obs)
        return self.pi(h), tf.squeeze(self.v(h), -1)


def log_probs(logits, actions):
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)


def vtrace(behaviour_logp, target_logp, rewards, values, bootstrap, gamma=0.95):
    rhos = tf.minimum(1.0, tf.exp(target_logp - behaviour_logp))
    next_values = tf.concat([values[1:], bootstrap[None]], axis=0)
    deltas = rhos * (rewards + gamma * next_values - values)
    acc = tf.zeros_like(bootstrap)
    out = []
    for t in reversed(range(T)):
        acc = deltas[t] + gamma * rhos[t] * acc
        out.insert(0, acc)
    vs = tf.stack(out) + values
    next_vs = tf.concat([vs[1:], bootstrap[None]], axis=0)
    return VTrace(tf.stop_gradient(vs), tf.stop_gradient(rhos * (rewards + gamma * next_vs - values)))


model = Net()
model(tf.zeros((1, 1, 4)))
optimizer = keras.optimizers.RMSprop(2e-3)


@tf.function
def learner_step(batch):
    with tf.GradientTape() as tape:
        outputs = model(batch["obs"])
        logits, values = tf.nest.map_structure(tf.stop_gradient, outputs)
        logp = log_probs(logits[:-1], batch["act"])
        returns = vtrace(batch["logp"], logp, batch["rew"], values[:-1], values[-1])
        pg_loss = -tf.reduce_sum(logp * returns.pg_advantages)
        baseline_loss = 0.5 * tf.reduce_sum(tf.square(returns.vs - values[:-1]))
        entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits))
        loss = pg_loss + 0.5 * baseline_loss - 0.01 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 40.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


def actor_unroll():
    obs = np.random.randn(T + 1, B, 4).astype(np.float32)
    logits, _ = model(obs[:-1])
    act = tf.reshape(tf.random.categorical(tf.reshape(logits, (-1, N_ACT)), 1), (T, B))
    rew = tf.cast(act == tf.argmax(obs[:-1, :, :N_ACT], -1), tf.float32)
    return {"obs": tf.constant(obs), "act": act, "logp": log_probs(logits, act), "rew": rew}


for step in range(10):
    loss, norm = learner_step(actor_unroll())
    print(step, "loss", float(loss), "norm", float(norm))
