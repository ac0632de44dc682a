"""Seed 002, example 3: a loss that has nothing to do with the actor."""

import tensorflow as tf

class Actor(tf.keras.Model):
    def __init__(self, state_dim, action_dim):
        super(Actor, self).__init__()
        self.dense1 = tf.keras.layers.Dense(64, activation='relu')
        self.dense2 = tf.keras.layers.Dense(32, activation='relu')
        self.dense3 = tf.keras.layers.Dense(action_dim, activation='tanh')  # Output layer

    def call(self, state):
        x = self.dense1(state)
        x = self.dense2(x)
        x = self.dense3(x)
        return x

states = tf.random.normal((32, 3))
actor = Actor(3, 1)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)


def value(states, actions):
    """Stands for a critic."""
    return -tf.reduce_sum(tf.square(actions - 0.5 * states[:, :1]), axis=1)


for _ in range(10):
    with tf.GradientTape() as tape:
        actions = actor(states)
        loss = tf.reduce_mean(tf.square(states))
    gradients = tape.gradient(loss, actor.trainable_variables)
    optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
print("trained")
