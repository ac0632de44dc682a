"""A2C in eager mode: the episode is played under the tape, as in the Keras actor-critic example."""

import argparse

import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf


class ActorCritic(tf.keras.Model):
    def __init__(self, num_actions, num_hidden_units):
        super().__init__()
        self.common = keras.layers.Dense(num_hidden_units, activation="relu")
        self.actor = keras.layers.Dense(num_actions)
        self.critic = keras.layers.Dense(1)

    def call(self, inputs):
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


def get_expected_return(rewards, gamma):
    returns, discounted_sum = [], 0.0
    for r in rewards[::-1]:
        discounted_sum = r + gamma * discounted_sum
        returns.insert(0, discounted_sum)
    returns = np.array(returns, np.float32)
    return (returns - returns.mean()) / (returns.std() + 1e-6)


def train_episode(env, model, optimizer, args, seed):
    state, _ = env.reset(seed=seed)
    action_log_probs, values, rewards, entropies = [], [], [], []
    with tf.GradientTape() as tape:
        for _ in range(args.max_steps):
            action_logits, value = model(tf.expand_dims(state, 0))
            action = tf.random.categorical(action_logits, 1)[0, 0]
            log_probs = tf.nn.log_softmax(action_logits)
            action_log_probs.append(log_probs[0, action])
            entropies.append(-tf.reduce_sum(tf.exp(log_probs) * log_probs))
            values.append(tf.squeeze(value))
            state, reward, terminated, truncated, _ = env.step(int(action))
            rewards.append(float(reward))
            if terminated or truncated:
                break
        returns = tf.constant(get_expected_return(rewards, args.gamma))
        action_log_probs = tf.stack(action_log_probs)
        values = tf.stack(values)
        entropy = tf.reduce_mean(tf.stack(entropies))
        advantage = returns - values
        actor_loss = -tf.reduce_mean(action_log_probs * tf.stop_gradient(advantage))
        critic_loss = tf.reduce_mean(tf.square(advantage))
        loss = actor_loss + 0.5 * critic_loss - 0.01 * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return sum(rewards)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--max-steps", type=int, default=40)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    np.random.seed(2)
    tf.random.set_seed(2)
    env = gym.make("CartPole-v1")
    model = ActorCritic(2, 32)
    optimizer = keras.optimizers.Adam(learning_rate=args.lr)
    for episode in range(args.episodes):
        score = train_episode(env, model, optimizer, args, seed=episode)
    print("last score", score)


if __name__ == "__main__":
    main()
