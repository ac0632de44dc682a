"""DQN on a toy chain; everything is a local of main()."""

import argparse
import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras


def build(n_in, n_out):
    return keras.Sequential(
        [keras.layers.Input((n_in,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(n_out)]
    )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--sync", type=int, default=10)
    args = p.parse_args()
    random.seed(0)
    rng = np.random.default_rng(0)
    model = build(4, 2)
    target_model = build(4, 2)
    target_model.set_weights(model.get_weights())
    optimizer = keras.optimizers.Adam(1e-3)
    memory = deque(maxlen=1000)
    s = rng.normal(size=4).astype("float32")
    for step in range(args.steps):
        a = int(rng.integers(2)) if rng.random() < 0.3 else int(np.argmax(model(s[None])[0]))
        s2 = rng.normal(size=4).astype("float32")
        done = rng.random() < 0.4
        memory.append((s, a, float(a == 0), s2, float(done)))
        s = s2
        if len(memory) < 16:
            continue
        batch = random.sample(memory, 16)
        bs, ba, br, bs2, bd = map(np.array, zip(*batch))
        br = br.astype("float32")
        bd = bd.astype("float32")
        next_q = target_model(bs2)
        targets = br + 0.99 * tf.reduce_max(next_q, axis=1) * (1.0 - bd)
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(model(bs) * tf.one_hot(ba, 2), axis=1)
            loss = tf.reduce_mean(tf.square(targets - q))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        if args.sync and step % args.sync == 0:
            target_model.set_weights(model.get_weights())
    print("done", float(loss))


if __name__ == "__main__":
    main()
