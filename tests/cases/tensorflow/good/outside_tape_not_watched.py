import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(325)


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.fc1 = layers.Dense(24, activation="relu")
        self.fc2 = layers.Dense(1)

    def call(self, state, action):
        return self.fc2(self.fc1(tf.concat([state, action], 1)))

    def action_gradients(self, state, action):
        action = tf.convert_to_tensor(action)
        with tf.GradientTape() as tape:
            tape.watch(action)
            q = tf.squeeze(self(state, action))
        return tape.gradient(q, action)


critic = Critic()
actor = keras.Sequential([keras.Input((3,)), layers.Dense(24, activation="relu"), layers.Dense(2, activation="tanh")])
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)

for it in range(10):
    s = np.random.randn(32, 3).astype("float32")
    a = np.random.uniform(-1, 1, (32, 2)).astype("float32")
    r = -np.sum(np.abs(a - s[:, :2]), axis=1, keepdims=True)
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean(keras.losses.huber(r, critic(s, a)))
    grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))

    dq_da = critic.action_gradients(s, actor(s).numpy())
    with tf.GradientTape() as tape:
        out = actor(s)
    grads = tape.gradient(out, actor.trainable_variables, -dq_da / len(s))
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    print("it", it, "critic loss", round(float(critic_loss), 4))
