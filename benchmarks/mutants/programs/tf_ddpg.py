"""DDPG with subclassed models and a compiled update, after the Keras example."""

import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

GAMMA = 0.98
TAU = 0.02


class Actor(keras.Model):
    def __init__(self, num_actions, upper_bound):
        super().__init__()
        self.dense1 = layers.Dense(32, activation="relu")
        self.dense2 = layers.Dense(32, activation="relu")
        self.out = layers.Dense(num_actions, activation="tanh")
        self.upper_bound = upper_bound

    def call(self, state):
        x = self.dense1(state)
        x = self.dense2(x)
        return self.out(x) * self.upper_bound


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense1 = layers.Dense(32, activation="relu")
        self.dense2 = layers.Dense(32, activation="relu")
        self.out = layers.Dense(1)

    def call(self, inputs):
        state, action = inputs
        x = tf.concat([state, action], axis=1)
        x = self.dense1(x)
        x = self.dense2(x)
        return self.out(x)


class Learner:
    def __init__(self):
        self.actor_model = Actor(1, 2.0)
        self.critic_model = Critic()
        self.target_actor = Actor(1, 2.0)
        self.target_critic = Critic()
        state, action = tf.zeros((1, 3)), tf.zeros((1, 1))
        for actor, critic in ((self.actor_model, self.critic_model), (self.target_actor, self.target_critic)):
            actor(state)
            critic([state, action])
        self.target_actor.set_weights(self.actor_model.get_weights())
        self.target_critic.set_weights(self.critic_model.get_weights())
        self.critic_optimizer = keras.optimizers.Adam(2e-3)
        self.actor_optimizer = keras.optimizers.Adam(1e-3)

    @tf.function
    def update(self, state_batch, action_batch, reward_batch, next_state_batch, done_batch):
        with tf.GradientTape() as tape:
            target_actions = self.target_actor(next_state_batch)
            next_value = self.target_critic([next_state_batch, target_actions])
            y = reward_batch + GAMMA * (1.0 - done_batch) * next_value
            critic_value = self.critic_model([state_batch, action_batch])
            critic_loss = tf.reduce_mean(tf.square(y - critic_value))
        critic_grad = tape.gradient(critic_loss, self.critic_model.trainable_variables)
        critic_grad, _ = tf.clip_by_global_norm(critic_grad, 10.0)
        self.critic_optimizer.apply_gradients(zip(critic_grad, self.critic_model.trainable_variables))

        with tf.GradientTape() as tape:
            actions = self.actor_model(state_batch)
            critic_value = self.critic_model([state_batch, actions])
            actor_loss = -tf.reduce_mean(critic_value)
        actor_grad = tape.gradient(actor_loss, self.actor_model.trainable_variables)
        self.actor_optimizer.apply_gradients(zip(actor_grad, self.actor_model.trainable_variables))


def update_target(target, source, tau):
    for a, b in zip(target.variables, source.variables):
        a.assign(b * tau + a * (1 - tau))


def main(steps=200, batch_size=32):
    rng = np.random.RandomState(1)
    tf.random.set_seed(1)
    env = gym.make("Pendulum-v1", max_episode_steps=50)
    learner = Learner()
    buffer = []
    state, _ = env.reset(seed=1)
    for step in range(steps):
        action = learner.actor_model(state[None]).numpy()[0] + 0.4 * rng.randn(1)
        action = np.clip(action, -2.0, 2.0).astype(np.float32)
        next_state, reward, terminated, truncated, _ = env.step(action)
        over = bool(abs(next_state[2]) > 6)
        buffer.append((state, action, [reward / 8], next_state, [float(terminated or over)]))
        state = next_state
        if truncated or over:
            state, _ = env.reset()
        if len(buffer) >= 64:
            rows = [buffer[i] for i in rng.randint(len(buffer), size=batch_size)]
            batch = [tf.constant(np.array(column), tf.float32) for column in zip(*rows)]
            learner.update(*batch)
            update_target(learner.target_actor, learner.actor_model, TAU)
            update_target(learner.target_critic, learner.critic_model, TAU)
    print("done", step + 1)


if __name__ == "__main__":
    main()
