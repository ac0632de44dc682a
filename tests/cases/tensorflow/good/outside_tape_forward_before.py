import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(321)
env = gym.make("Pendulum-v1")


def get_actor():
    inputs = layers.Input((3,))
    out = layers.Dense(16, activation="relu")(inputs)
    return keras.Model(inputs, 2.0 * layers.Dense(1, activation="tanh")(out))


def get_critic():
    state, action = layers.Input((3,)), layers.Input((1,))
    out = layers.Dense(16, activation="relu")(layers.Concatenate()([state, action]))
    return keras.Model([state, action], layers.Dense(1)(out))


actor_model, critic_model = get_actor(), get_critic()
actor_optimizer, critic_optimizer = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


@tf.function
def update(states, actions, rewards):
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean(tf.square(rewards - critic_model([states, actions])))
    critic_grad = tape.gradient(critic_loss, critic_model.trainable_variables)
    critic_optimizer.apply_gradients(zip(critic_grad, critic_model.trainable_variables))

    with tf.GradientTape() as tape:
        new_actions = actor_model(states)
        actor_loss = -tf.reduce_mean(critic_model([states, new_actions]))
    actor_grad = tape.gradient(actor_loss, actor_model.trainable_variables)
    actor_optimizer.apply_gradients(zip(actor_grad, actor_model.trainable_variables))
    return actor_loss


for episode in range(3):
    S, A, R = [], [], []
    state, _ = env.reset(seed=episode)
    for _ in range(32):
        action = actor_model(state[None])[0].numpy() + np.random.normal(0, 0.3, 1)
        state2, reward, *_ = env.step(action)
        S.append(state), A.append(action), R.append([reward / 10])
        state = state2
    for _ in range(4):
        loss = update(*(tf.constant(np.array(x), tf.float32) for x in (S, A, R)))
    print("episode", episode, "reward", round(float(np.sum(R)), 2), "actor loss", round(float(loss), 4))
