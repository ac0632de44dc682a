"""Seed 002, example 1, as written; the names that it leaves open are filled in."""

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

# Incorrect - Optimizer won't see 'new_layer'
# actor = Actor(state_dim, action_dim)
# new_layer = tf.keras.layers.Dense(16, activation='relu')(actor.dense2.output) #WRONG
# actor.add_loss(some_loss_function)

state_dim, action_dim = 3, 1
states = tf.random.normal((8, state_dim))

# Correct - New layer added correctly.
actor = Actor(state_dim, action_dim)
actor.add(tf.keras.layers.Dense(16, activation='relu')) #CORRECT
optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)

# Training loop (simplified)
with tf.GradientTape() as tape:
    actions = actor(states)
    loss = actor_loss(actions, ...) #your actor loss function
gradients = tape.gradient(loss, actor.trainable_variables)
optimizer.apply_gradients(zip(gradients, actor.trainable_variables))
