"""Actor Critic on CartPole, after the Keras code example."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

seed = 42
keras.utils.set_random_seed(seed)
gamma = 0.99
env = gym.make("CartPole-v1")
eps = np.finfo(np.float32).eps.item()

inputs = layers.Input(shape=(4,))
common = layers.Dense(32, activation="relu")(inputs)
action = layers.Dense(2, activation="softmax")(common)
critic = layers.Dense(1)(common)
model = keras.Model(inputs=inputs, outputs=[action, critic])

optimizer = keras.optimizers.Adam(learning_rate=0.01)
huber_loss = keras.losses.Huber()
action_probs_history = []
critic_value_history = []
rewards_history = []
running_reward = 0

for episode_count in range(6):
    state, _ = env.reset(seed=seed + episode_count)
    episode_reward = 0
    with tf.GradientTape() as tape:
        for timestep in range(1, 60):
            state = ops.expand_dims(ops.convert_to_tensor(state), 0)
            action_probs, critic_value = model(state)
            critic_value_history.append(critic_value[0, 0])

            action = np.random.choice(2, p=np.squeeze(action_probs))
            action_probs_history.append(ops.log(action_probs[0, action]))

            state, reward, done, *_ = env.step(action)
            rewards_history.append(reward)
            episode_reward += reward
            if done:
                break

        running_reward = 0.05 * episode_reward + (1 - 0.05) * running_reward

        returns = []
        discounted_sum = 0
        for r in rewards_history[::-1]:
            discounted_sum = r + gamma * discounted_sum
            returns.insert(0, discounted_sum)
        returns = np.array(returns)
        returns = (returns - np.mean(returns)) / (np.std(returns) + eps)
        returns = returns.tolist()

        actor_losses, critic_losses = [], []
        for log_prob, value, ret in zip(action_probs_history, critic_value_history, returns):
            diff = ret - float(value)
            actor_losses.append(-log_prob * diff)
            critic_losses.append(huber_loss(ops.expand_dims(value, 0), ops.expand_dims(ret, 0)))

        loss_value = sum(actor_losses) + sum(critic_losses)
    grads = tape.gradient(loss_value, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

    action_probs_history.clear()
    critic_value_history.clear()
    rewards_history.clear()
    print("running reward: {:.2f} at episode {}".format(running_reward, episode_count))
