"""DQN with a GradientTape in plain eager TensorFlow, as most course notes have it."""

import argparse
import random
from collections import deque

import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def build_model(n_obs, n_actions):
    return keras.Sequential(
        [
            layers.Input(shape=(n_obs,)),
            layers.Dense(24, activation="relu", name="hidden1"),
            layers.Dense(24, activation="relu", name="hidden2"),
            layers.Dense(n_actions, activation="linear", name="q"),
        ]
    )


class Agent:
    def __init__(self, n_obs, n_actions, args):
        self.n_actions = n_actions
        self.gamma = args.gamma
        self.model = build_model(n_obs, n_actions)
        self.target_model = build_model(n_obs, n_actions)
        self.target_model.set_weights(self.model.get_weights())
        self.optimizer = keras.optimizers.Adam(learning_rate=args.lr)
        self.loss_function = keras.losses.Huber()
        self.memory = deque(maxlen=2000)
        self.epsilon = 0.4

    def choose_action(self, state):
        if random.random() < self.epsilon:
            return random.randrange(self.n_actions)
        q_values = self.model(state[np.newaxis], training=False)
        return int(tf.argmax(q_values[0]))

    def train_step(self, batch_size):
        batch = random.sample(self.memory, batch_size)
        states, actions, rewards, next_states, dones = (np.array(x) for x in zip(*batch))
        rewards = tf.constant(rewards, tf.float32)
        dones = tf.constant(dones, tf.float32)
        future_q = self.target_model(next_states)
        max_q = tf.reduce_max(future_q, axis=1)
        target = rewards + self.gamma * max_q * (1.0 - dones)
        masks = tf.one_hot(actions, self.n_actions)
        with tf.GradientTape() as tape:
            q_values = self.model(states)
            q_action = tf.reduce_sum(q_values * masks, axis=1)
            loss = self.loss_function(target, q_action)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return float(loss)

    def update_target(self):
        self.target_model.set_weights(self.model.get_weights())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.95)
    args = parser.parse_args()
    random.seed(0)
    np.random.seed(0)
    tf.random.set_seed(0)
    env = gym.make("CartPole-v1")
    agent = Agent(4, 2, args)
    for episode in range(args.episodes):
        state, _ = env.reset(seed=episode)
        done, score = False, 0
        while not done:
            action = agent.choose_action(state)
            next_state, reward, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
            agent.memory.append((state, action, reward, next_state, float(terminated)))
            state = next_state
            score += reward
            if len(agent.memory) > 40:
                agent.train_step(32)
        if episode % 2 == 1:
            agent.update_target()
        print("episode", episode, "score", score)


if __name__ == "__main__":
    main()
