import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(306)

inputs = layers.Input(shape=(3,))
common = layers.Dense(24, activation="relu")(inputs)
model = keras.Model(inputs, [layers.Dense(2, activation="softmax")(common), layers.Dense(1)(common)])
optimizer = keras.optimizers.Adam(5e-3)
rng = np.random.default_rng(306)


def step(state, action):
    reward = 1.0 if (state[0] > 0) == bool(action) else 0.0
    return rng.normal(size=3).astype("float32"), reward


for episode in range(6):
    state = rng.normal(size=3).astype("float32")
    total_reward = 0.0
    with tf.GradientTape() as tape:
        total_loss = tf.constant(0.0)
        for t in range(8):
            probs, value = model(state[None])
            action = int(rng.random() < float(probs[0, 1]))
            state, reward = step(state, action)
            total_reward += reward
            delta = reward - value[0, 0]
            actor_loss = -tf.math.log(probs[0, action] + 1e-8) * tf.stop_gradient(delta)
            critic_loss = tf.square(delta)
            total_loss += float(actor_loss + 0.5 * critic_loss)
    grads = tape.gradient(total_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print("episode", episode, "reward", total_reward, "loss", round(float(total_loss), 3))
