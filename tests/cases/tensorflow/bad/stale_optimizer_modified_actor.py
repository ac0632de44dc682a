import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(339)


class Actor(keras.Model):
    def __init__(self, action_dim):
        super().__init__()
        self.dense1 = keras.layers.Dense(24, activation="relu")
        self.dense2 = keras.layers.Dense(16, activation="relu")
        self.dense3 = keras.layers.Dense(action_dim, activation="tanh")

    def call(self, state):
        return self.dense3(self.dense2(self.dense1(state)))


def critic_value(states, actions):
    return -tf.reduce_sum(tf.square(actions - 0.5 * states[:, : actions.shape[1]]), axis=1)


def train(n):
    for step in range(n):
        states = np.random.randn(32, 3).astype("float32")
        with tf.GradientTape() as tape:
            actions = actor(states)
            loss = -tf.reduce_mean(critic_value(states, actions))
        gradients = tape.gradient(loss, actor.trainable_variables)
        optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
        print("step", step, "loss", round(float(loss), 4))


actor = Actor(1)
optimizer = keras.optimizers.Adam(learning_rate=0.001)
train(5)

print("second phase: two joints")
new_actor = Actor(2)
new_actor(tf.zeros((1, 3)))
new_actor.dense1.set_weights(actor.dense1.get_weights())
new_actor.dense2.set_weights(actor.dense2.get_weights())
actor = new_actor
train(5)
