import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(101)


class SumTreeFree:
    """Proportional prioritised replay, plain numpy."""

    def __init__(self, size=400, alpha=0.6, beta=0.4):
        self.size, self.alpha, self.beta = size, alpha, beta
        self.data, self.priorities, self.pos = [], np.zeros(size), 0

    def push(self, item):
        top = self.priorities.max() or 1.0
        if len(self.data) < self.size:
            self.data.append(item)
        else:
            self.data[self.pos] = item
        self.priorities[self.pos] = top
        self.pos = (self.pos + 1) % self.size

    def sample(self, n):
        p = self.priorities[:len(self.data)] ** self.alpha
        p /= p.sum()
        idx = np.random.choice(len(self.data), n, p=p)
        w = (len(self.data) * p[idx]) ** -self.beta
        batch = [np.array(x) for x in zip(*[self.data[i] for i in idx])]
        return idx, (w / w.max()).astype("float32"), batch

    def update(self, idx, errors):
        self.priorities[idx] = np.abs(errors) + 1e-5


def build():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
    return model


online, target = build(), build()
target.set_weights(online.get_weights())
target.trainable = False
optimizer = keras.optimizers.Adam(1e-3, clipnorm=10.0)
buffer = SumTreeFree()
env = gym.make("CartPole-v1")


def td_targets(r, s2, d, gamma=0.98):
    best = np.argmax(online.predict_on_batch(s2), axis=1)
    q2 = target.predict_on_batch(s2)
    return (r + gamma * (1.0 - d) * q2[np.arange(len(best)), best]).astype("float32")


def learn(n=32):
    idx, weights, (s, a, r, s2, d) = buffer.sample(n)
    y = td_targets(r, s2, d)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(online(s) * tf.one_hot(a, 2), axis=1)
        td = y - q
        loss = tf.reduce_mean(weights * tf.where(tf.abs(td) < 1.0, 0.5 * td ** 2, tf.abs(td) - 0.5))
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    buffer.update(idx, td.numpy())
    return float(loss)


state, _ = env.reset(seed=101)
for t in range(120):
    action = env.action_space.sample() if np.random.rand() < 0.3 else int(tf.argmax(online(state[None]), axis=1)[0])
    nxt, reward, term, trunc, _ = env.step(action)
    buffer.push((state, action, np.float32(reward), nxt, np.float32(term)))
    state = env.reset()[0] if term or trunc else nxt
    if t >= 48 and t % 6 == 0:
        loss = learn()
    if t % 40 == 39:
        target.set_weights(online.get_weights())
        print("t", t, "loss", round(loss, 4) if t > 48 else None)
