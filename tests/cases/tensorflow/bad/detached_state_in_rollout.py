"""A cue is shown once, and asked for at the end of each episode: the state has to keep it."""

import random

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers, optimizers


class RecurrentActorCritic(Model):
    def __init__(self, hidden=16):
        super().__init__()
        self.encoder = layers.Dense(hidden, activation="relu")
        self.gru = layers.GRUCell(hidden)
        self.policy = layers.Dense(2)
        self.value = layers.Dense(1)

    def call(self, x, h):
        h, _ = self.gru(self.encoder(x), [tf.stop_gradient(h)])
        return self.policy(h), tf.squeeze(self.value(h), -1), h


class Cue:
    def reset(self):
        self.left, self.cue = 6, random.randrange(2)
        return np.array([[1.0, self.cue, 0.0]], np.float32)

    def step(self, action):
        self.left -= 1
        done = self.left == 0
        return np.array([[0.0, 0.0, self.left / 6]], np.float32), float(done and action == self.cue), done


def main():
    random.seed(0)
    tf.keras.utils.set_random_seed(0)
    env, net = Cue(), RecurrentActorCritic()
    opt = optimizers.RMSprop(7e-4)
    x, h = env.reset(), tf.zeros((1, 16))
    for _ in range(15):
        log_probs, values, rewards, goes_on = [], [], [], []
        with tf.GradientTape() as tape:
            for _ in range(16):
                logits, value, h = net(x, h)
                action = int(tf.random.categorical(logits, 1)[0, 0])
                x, reward, done = env.step(action)
                log_probs.append(tf.nn.log_softmax(logits)[:, action])
                values.append(value)
                rewards.append(reward)
                goes_on.append(1.0 - done)
                if done:
                    x, h = env.reset(), tf.zeros((1, 16))
            ret = float(net(x, h)[1][0])
            returns = []
            for reward, more in zip(reversed(rewards), reversed(goes_on)):
                ret = reward + 0.99 * ret * more
                returns.insert(0, ret)
            values, returns = tf.concat(values, 0), tf.constant(returns, tf.float32)
            policy_loss = -tf.reduce_mean(tf.concat(log_probs, 0) * (returns - tf.stop_gradient(values)))
            loss = policy_loss + 0.5 * tf.reduce_mean(tf.square(returns - values))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))


main()
