import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
env = gym.make("CartPole-v1")
num_inputs, num_actions, num_hidden, gamma = 4, 2, 24, 0.99
eps = np.finfo(np.float32).eps.item()

inputs = layers.Input(shape=(num_inputs,))
common = layers.Dense(num_hidden, activation="relu", name="common")(inputs)
action = layers.Dense(num_actions, activation="softmax", name="actor_head")(common)
critic = layers.Dense(1, name="critic_head")(common)
model = keras.Model(inputs=inputs, outputs=[action, critic])

optimizer = keras.optimizers.Adam(learning_rate=0.01)
huber_loss = keras.losses.Huber()
running_reward = 0


def normalise(rewards):
    returns, total = [], 0.0
    for r in rewards[::-1]:
        total = r + gamma * total
        returns.insert(0, total)
    returns = np.array(returns, dtype="float32")
    return (returns - returns.mean()) / (returns.std() + eps)


for episode in range(6):
    state, _ = env.reset(seed=episode)
    log_probs, values, rewards = [], [], []
    with tf.GradientTape() as tape:
        for timestep in range(50):
            state = tf.expand_dims(tf.convert_to_tensor(state), 0)
            action_probs, critic_value = model(state)
            values.append(critic_value[0, 0])
            probs = np.squeeze(action_probs)
            action = np.random.choice(num_actions, p=probs)
            log_probs.append(tf.math.log(probs[action]))
            state, reward, done, _, _ = env.step(action)
            rewards.append(reward)
            if done:
                break
        running_reward = 0.1 * sum(rewards) + 0.9 * running_reward
        actor_losses, critic_losses = [], []
        for log_prob, value, ret in zip(log_probs, values, normalise(rewards)):
            diff = ret - tf.stop_gradient(value)
            actor_losses.append(-log_prob * diff)
            critic_losses.append(huber_loss(tf.expand_dims(ret, 0), tf.expand_dims(value, 0)))
        loss_value = sum(actor_losses) + sum(critic_losses)
    grads = tape.gradient(loss_value, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print("episode", episode, "running reward", round(running_reward, 2), "loss", round(float(loss_value), 3))
