import argparse

import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--warmup", type=int, default=10)
parser.add_argument("--lr", type=float, default=5e-3)
args = parser.parse_args()

keras.utils.set_random_seed(2)
env = gym.make("CartPole-v1", max_episode_steps=40)
policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
baseline = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(args.lr)


def lr_at(epoch):
    return args.lr * min(1, epoch // args.warmup)


def run_episode(seed):
    s, _ = env.reset(seed=seed)
    traj, done = [], False
    while not done:
        a = int(tf.random.categorical(policy(s[None]), 1)[0, 0])
        s2, r, term, trunc, _ = env.step(a)
        traj.append((s, a, r))
        s, done = s2, term or trunc
    S, A, R = map(np.array, zip(*traj))
    G = np.cumsum((R * 0.98 ** np.arange(len(R)))[::-1])[::-1] / 0.98 ** np.arange(len(R))
    return S, A, G.astype(np.float32)


@tf.function(reduce_retracing=True)
def update(S, A, G):
    variables = policy.trainable_variables + baseline.trainable_variables
    with tf.GradientTape() as tape:
        v = baseline(S)[:, 0]
        logp = tf.gather(tf.nn.log_softmax(policy(S)), A, axis=1, batch_dims=1)
        loss = -tf.reduce_mean(logp * tf.stop_gradient(G - v)) + 0.5 * tf.reduce_mean((G - v) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for epoch in range(args.epochs):
    optimizer.learning_rate.assign(lr_at(epoch))
    S, A, G = run_episode(seed=epoch)
    loss = update(tf.constant(S, tf.float32), tf.constant(A), tf.constant(G))
    print(f"epoch {epoch} length {len(A)} loss {float(loss):.3f}")
