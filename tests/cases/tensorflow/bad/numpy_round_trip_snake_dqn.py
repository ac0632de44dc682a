import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(309)
H = W = 5
NUM_ACTIONS = 3


def create_dqn():
    return keras.Sequential([
        keras.Input((H, W, 2)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(NUM_ACTIONS),
    ])


class SnakeAgent:
    def __init__(self):
        self.online, self.target = create_dqn(), create_dqn()
        self.target.set_weights(self.online.get_weights())
        self.optimizer = keras.optimizers.Adam(1e-3)
        self.replay = deque(maxlen=500)

    def play_step(self):
        state, nxt = (np.random.randint(0, 2, (H, W, 2)).astype("float32") for _ in range(2))
        action = random.randrange(NUM_ACTIONS)
        self.replay.append((state, action, float(state[2, 2, 0] == action % 2), random.random() < 0.1, nxt))

    def train_on_replay_batch(self, batch_size, gamma):
        states, actions, rewards, dones, nexts = map(np.array, zip(*random.sample(self.replay, batch_size)))
        next_max_q = self.target.predict(nexts, verbose=0).max(-1)
        target_qs = (rewards + gamma * next_max_q * (1 - dones)).astype("float32")
        with tf.GradientTape() as tape:
            qs = tf.reduce_sum(self.online.predict(states, verbose=0) * tf.one_hot(actions, NUM_ACTIONS), -1)
            loss = tf.reduce_mean(tf.square(target_qs - qs))
        grads = tape.gradient(loss, self.online.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.online.trainable_variables))
        return float(loss)


agent = SnakeAgent()
for frame in range(200):
    agent.play_step()
    if frame >= 150 and frame % 10 == 0:
        print("frame", frame, "loss", round(agent.train_on_replay_batch(32, 0.99), 4))
    if frame % 100 == 99:
        agent.target.set_weights(agent.online.get_weights())
