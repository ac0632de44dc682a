import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(1234)


def discounted_cumulative_sums(x, discount):
    for i in range(len(x) - 2, -1, -1):
        x[i] += discount * x[i + 1]
    return x


class Buffer:
    def __init__(self, observation_dimensions, size, gamma=0.99, lam=0.95):
        self.observation_buffer = np.zeros((size, observation_dimensions), dtype=np.float32)
        self.action_buffer = np.zeros(size, dtype=np.int32)
        self.advantage_buffer, self.reward_buffer, self.return_buffer, self.value_buffer, self.logprobability_buffer = (
            np.zeros(size, dtype=np.float32) for _ in range(5))
        self.gamma, self.lam, self.pointer, self.start = gamma, lam, 0, 0

    def store(self, observation, action, reward, value, logprobability):
        i = self.pointer
        self.observation_buffer[i], self.action_buffer[i], self.reward_buffer[i] = observation[0], action, reward
        self.value_buffer[i], self.logprobability_buffer[i] = value[0], logprobability[0]
        self.pointer += 1

    def finish_trajectory(self, last_value=0):
        path = slice(self.start, self.pointer)
        rewards = np.append(self.reward_buffer[path], last_value)
        values = np.append(self.value_buffer[path], last_value)
        deltas = rewards[:-1] + self.gamma * values[1:] - values[:-1]
        self.advantage_buffer[path] = discounted_cumulative_sums(deltas, self.gamma * self.lam)
        self.return_buffer[path] = discounted_cumulative_sums(rewards, self.gamma)[:-1]
        self.start = self.pointer

    def get(self):
        self.pointer, self.start = 0, 0
        adv = (self.advantage_buffer - self.advantage_buffer.mean()) / self.advantage_buffer.std()
        return self.observation_buffer, self.action_buffer, adv, self.return_buffer, self.logprobability_buffer


def mlp(x, n_out):
    return layers.Dense(n_out)(layers.Dense(16, activation="tanh")(x))


def logprobabilities(logits, a):
    return keras.ops.sum(keras.ops.one_hot(a, 2) * keras.ops.log_softmax(logits), axis=1)


@tf.function
def sample_action(observation):
    logits = actor(observation)
    return logits, keras.ops.squeeze(tf.random.categorical(logits, 1), axis=1)


@tf.function
def train_policy(obs, act, old_logp, adv):
    with tf.GradientTape() as tape:
        ratio = keras.ops.exp(logprobabilities(actor(obs), act) - old_logp)
        min_advantage = keras.ops.where(adv > 0, (1 + 0.2) * adv, (1 - 0.2) * adv)
        policy_loss = -keras.ops.mean(keras.ops.minimum(ratio * adv, min_advantage))
    policy_optimizer.apply_gradients(zip(tape.gradient(policy_loss, actor.trainable_variables), actor.trainable_variables))
    return keras.ops.mean(old_logp - logprobabilities(actor(obs), act))


@tf.function
def train_value_function(obs, returns):
    with tf.GradientTape() as tape:
        value_loss = keras.ops.mean((returns - critic(obs)) ** 2)
    value_grads = tape.gradient(value_loss, critic.trainable_variables)
    value_optimizer.apply_gradients(zip(value_grads, critic.trainable_variables))


env, buffer = gym.make("CartPole-v1"), Buffer(4, 100)
observation_input = keras.Input(shape=(4,), dtype="float32")
actor = keras.Model(observation_input, mlp(observation_input, 2))
critic = keras.Model(observation_input, keras.ops.squeeze(mlp(observation_input, 1), axis=1))
policy_optimizer, value_optimizer = keras.optimizers.Adam(3e-3), keras.optimizers.Adam(1e-2)
observation, _ = env.reset(seed=0)
for epoch in range(2):
    for t in range(100):
        observation = observation.reshape(1, -1)
        logits, action = sample_action(observation)
        observation_new, reward, done, _, _ = env.step(action[0].numpy())
        buffer.store(observation, action[0], reward, critic(observation), logprobabilities(logits, action))
        observation = observation_new
        if done or t == 99:
            buffer.finish_trajectory(0 if done else critic(observation.reshape(1, -1))[0])
            observation, _ = env.reset()
    obs_b, act_b, adv_b, ret_b, logp_b = buffer.get()
    for _ in range(10):
        if train_policy(obs_b, act_b, logp_b, adv_b) > 1.5 * 0.01:
            break
    for _ in range(10):
        train_value_function(obs_b, ret_b)
    print("epoch", epoch, "mean return", ret_b.mean())
