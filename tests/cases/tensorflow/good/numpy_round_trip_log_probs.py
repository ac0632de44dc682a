import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(305)
env = gym.make("CartPole-v1")
policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(2, activation="softmax")])
optimizer = keras.optimizers.Adam(5e-3)


def play(episode):
    states, actions, rewards = [], [], []
    state, _ = env.reset(seed=episode)
    done = False
    while not done and len(rewards) < 30:
        p = policy(state[None]).numpy()[0].astype("float64")
        action = np.random.choice(2, p=p / p.sum())
        states.append(state)
        actions.append(action)
        state, reward, terminated, truncated, _ = env.step(action)
        rewards.append(reward)
        done = terminated or truncated
    returns = np.cumsum(rewards[::-1])[::-1].astype("float32")
    return np.array(states), np.array(actions), (returns - returns.mean()) / (returns.std() + 1e-6)


for episode in range(6):
    states, actions, returns = play(episode)
    with tf.GradientTape() as tape:
        probs = policy(states)
        mask = np.eye(2, dtype="float32")[actions]
        chosen = tf.reduce_sum(probs * mask, axis=1)
        loss = -tf.reduce_mean(tf.math.log(chosen) * returns)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    print("episode", episode, "length", len(actions), "loss", round(float(loss), 4))
