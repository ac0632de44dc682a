import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(347)


class Actor(keras.Model):
    def __init__(self, action_dim):
        super().__init__()
        self.dense1 = keras.layers.Dense(32, activation="relu")
        self.dense2 = keras.layers.Dense(16, activation="relu")
        self.dense3 = keras.layers.Dense(action_dim, activation="tanh")

    def call(self, state):
        return self.dense3(self.dense2(self.dense1(state)))


class Trainer:
    def __init__(self, model, optimizer, max_grad_norm):
        self.model, self.optimizer, self.max_grad_norm = model, optimizer, max_grad_norm

    def step(self, loss_fn):
        with tf.GradientTape() as tape:
            loss = loss_fn()
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, self.max_grad_norm)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return float(loss)


actor = Actor(1)
critic = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
actor_trainer = Trainer(actor, keras.optimizers.Adam(1e-3), max_grad_norm=0.0)
critic_trainer = Trainer(critic, keras.optimizers.Adam(2e-3), max_grad_norm=1.0)

for it in range(12):
    states = np.random.randn(32, 3).astype("float32")
    taken = np.random.uniform(-1, 1, (32, 1)).astype("float32")
    rewards = -np.abs(taken - np.tanh(states[:, :1]))
    lc = critic_trainer.step(lambda: tf.reduce_mean(tf.square(critic(tf.concat([states, taken], 1)) - rewards)))
    la = actor_trainer.step(lambda: -tf.reduce_mean(critic(tf.concat([states, actor(states)], 1))))
    print("it", it, "critic", round(lc, 4), "actor", round(la, 4))
