"""REINFORCE with a value baseline, persistent tape, eager; Keras models from a function."""

import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf


def make_net(outputs):
    return keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(outputs)]
    )


class PolicyGradient:
    def __init__(self, lr=5e-3, gamma=0.98):
        self.gamma = gamma
        self.policy_net = make_net(2)
        self.value_net = make_net(1)
        self.policy_opt = keras.optimizers.Adam(lr)
        self.value_opt = keras.optimizers.Adam(lr)

    def act(self, state):
        logits = self.policy_net(state[None])
        return int(tf.random.categorical(logits, 1)[0, 0])

    def returns(self, rewards):
        out, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + self.gamma * total
            out.append(total)
        return np.array(out[::-1], np.float32) / 10

    def update(self, states, actions, rewards):
        states = tf.constant(np.array(states))
        returns = tf.constant(self.returns(rewards))
        with tf.GradientTape(persistent=True) as tape:
            logits = self.policy_net(states)
            values = tf.squeeze(self.value_net(states), axis=1)
            advantages = tf.stop_gradient(returns - values)
            neg_log_prob = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
            policy_loss = tf.reduce_mean(neg_log_prob * advantages)
            value_loss = tf.reduce_mean(tf.square(returns - values))
        policy_grads = tape.gradient(policy_loss, self.policy_net.trainable_variables)
        value_grads = tape.gradient(value_loss, self.value_net.trainable_variables)
        del tape
        self.policy_opt.apply_gradients(zip(policy_grads, self.policy_net.trainable_variables))
        self.value_opt.apply_gradients(zip(value_grads, self.value_net.trainable_variables))


def main():
    tf.random.set_seed(5)
    np.random.seed(5)
    env = gym.make("CartPole-v1")
    agent = PolicyGradient()
    for episode in range(25):
        states, actions, rewards = [], [], []
        state, _ = env.reset(seed=episode)
        done = False
        while not done and len(rewards) < 60:
            action = agent.act(state)
            states.append(state)
            actions.append(action)
            state, reward, terminated, truncated, _ = env.step(action)
            rewards.append(reward)
            done = terminated or truncated
        agent.update(states, actions, rewards)
    print("episodes", episode + 1, "last", len(rewards))


if __name__ == "__main__":
    main()
