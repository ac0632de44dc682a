import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["KERAS_BACKEND"] = "tensorflow"
import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(2)
env = gym.make("Pendulum-v1")
num_states, num_actions = 3, 1
upper_bound, lower_bound = env.action_space.high[0], env.action_space.low[0]


def get_actor():
    last_init = keras.initializers.RandomUniform(minval=-0.003, maxval=0.003)
    inputs = layers.Input(shape=(num_states,))
    out = layers.Dense(32, activation="relu")(inputs)
    out = layers.Dense(32, activation="relu")(out)
    outputs = layers.Dense(1, activation="tanh", kernel_initializer=last_init)(out)
    return keras.Model(inputs, outputs * upper_bound)


def get_critic():
    state_input = layers.Input(shape=(num_states,))
    action_input = layers.Input(shape=(num_actions,))
    state_out = layers.Dense(16, activation="relu")(state_input)
    action_out = layers.Dense(16, activation="relu")(action_input)
    out = layers.Dense(32, activation="relu")(layers.Concatenate()([state_out, action_out]))
    return keras.Model([state_input, action_input], layers.Dense(1)(out))


class Buffer:
    def __init__(self, buffer_capacity=1000, batch_size=32):
        self.buffer_capacity, self.batch_size, self.buffer_counter = buffer_capacity, batch_size, 0
        self.s = np.zeros((buffer_capacity, num_states))
        self.a = np.zeros((buffer_capacity, num_actions))
        self.r = np.zeros((buffer_capacity, 1))
        self.s2 = np.zeros((buffer_capacity, num_states))

    def record(self, obs_tuple):
        index = self.buffer_counter % self.buffer_capacity
        self.s[index], self.a[index], self.r[index], self.s2[index] = obs_tuple
        self.buffer_counter += 1

    @tf.function
    def update(self, state_batch, action_batch, reward_batch, next_state_batch):
        with tf.GradientTape() as tape:
            target_actions = target_actor(next_state_batch, training=True)
            y = reward_batch + gamma * target_critic([next_state_batch, target_actions], training=True)
            critic_value = critic_model([state_batch, action_batch], training=True)
            critic_loss = keras.ops.mean(keras.ops.square(y - critic_value))
        critic_grad = tape.gradient(critic_loss, critic_model.trainable_variables)
        critic_optimizer.apply_gradients(zip(critic_grad, critic_model.trainable_variables))

        with tf.GradientTape() as tape:
            actions = actor_model(state_batch, training=True)
            actor_loss = -keras.ops.mean(critic_model([state_batch, actions], training=True))
        actor_grad = tape.gradient(actor_loss, actor_model.trainable_variables)
        actor_optimizer.apply_gradients(zip(actor_grad, actor_model.trainable_variables))

    def learn(self):
        idx = np.random.choice(min(self.buffer_counter, self.buffer_capacity), self.batch_size)
        self.update(*(keras.ops.cast(keras.ops.convert_to_tensor(x[idx]), "float32")
                      for x in (self.s, self.a, self.r, self.s2)))


def update_target(target, original, tau):
    target_weights, original_weights = target.get_weights(), original.get_weights()
    for i in range(len(target_weights)):
        target_weights[i] = original_weights[i] * tau + target_weights[i] * (1 - tau)
    target.set_weights(target_weights)


actor_model, critic_model, target_actor, target_critic = get_actor(), get_critic(), get_actor(), get_critic()
target_actor.set_weights(actor_model.get_weights())
target_critic.set_weights(critic_model.get_weights())
critic_optimizer, actor_optimizer = keras.optimizers.Adam(0.002), keras.optimizers.Adam(0.001)
gamma, tau, buffer = 0.99, 0.005, Buffer()
prev_state, _ = env.reset(seed=2)
for step in range(90):
    sampled = keras.ops.squeeze(actor_model(keras.ops.expand_dims(keras.ops.convert_to_tensor(prev_state), 0)))
    legal_action = np.clip(sampled.numpy() + np.random.normal(0, 0.2), lower_bound, upper_bound)
    state, reward, done, truncated, _ = env.step([legal_action])
    buffer.record((prev_state, legal_action, reward, state))
    buffer.learn()
    update_target(target_actor, actor_model, tau)
    update_target(target_critic, critic_model, tau)
    prev_state = state
print("avg reward", buffer.r[:90].mean())
