import os
import random

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(71)
N_ITEMS, HIST, N_ACT, GAMMA = 12, 3, 4, 0.8


def build_q():
    item_table = layers.Embedding(N_ITEMS, 6, name="item_table")
    score = layers.Dense(1, name="score")

    def pooled_history(ids):
        """attention over the last clicked items"""
        vectors = item_table(ids)
        weights = tf.nn.softmax(score(vectors), axis=1)
        return tf.reduce_sum(weights * vectors, axis=1)

    ids = layers.Input((HIST,), dtype="int32")
    context = layers.Input((4,))
    pooled = layers.Lambda(pooled_history, output_shape=(6,), name="history")(ids)
    x = layers.Concatenate()([pooled, layers.Dense(8, activation="relu")(context)])
    x = layers.Dense(24, activation="relu")(x)
    return keras.Model([ids, context], layers.Dense(N_ACT)(x))


q_model, q_target = build_q(), build_q()
q_target.set_weights(q_model.get_weights())
q_model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="huber")
replay = []


def session_step(ids, ctx, action):
    liked = (ids[-1] + ids[0]) % N_ACT
    reward = 1.0 if action == liked else 0.0
    nxt = np.append(ids[1:], random.randrange(N_ITEMS)).astype("int32")
    return nxt, np.random.randn(4).astype("float32"), reward


ids, ctx = np.random.randint(N_ITEMS, size=HIST).astype("int32"), np.random.randn(4).astype("float32")
for step in range(160):
    action = random.randrange(N_ACT)
    ids2, ctx2, reward = session_step(ids, ctx, action)
    replay.append((ids, ctx, action, reward, ids2, ctx2))
    ids, ctx = ids2, ctx2
    if step >= 40 and step % 4 == 0:
        i, c, a, r, i2, c2 = (np.array(x) for x in zip(*random.sample(replay, 32)))
        targets = q_model.predict_on_batch([i, c])
        future = q_target.predict_on_batch([i2, c2]).max(axis=1)
        targets[np.arange(32), a] = r + GAMMA * future
        loss = q_model.train_on_batch([i, c], targets)
    if step % 40 == 39 and step > 40:
        q_target.set_weights(q_model.get_weights())
        print("step", step, "loss", round(float(loss), 4))
