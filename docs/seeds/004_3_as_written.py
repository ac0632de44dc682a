"""Seed 004, example 3, as written; the model is that of example 1."""

import tensorflow as tf

class DQNModel(tf.keras.Model):
    def __init__(self, num_actions):
        super(DQNModel, self).__init__()
        self.dense1 = tf.keras.layers.Dense(64, activation='relu')
        self.dense2 = tf.keras.layers.Dense(num_actions)

    def call(self, inputs):
        x = self.dense1(inputs)
        return self.dense2(x)


# Initialize networks (assuming num_actions is defined elsewhere)
num_actions = 4
online_model = DQNModel(num_actions)
target_model = DQNModel(num_actions)

# Optimizer
optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)

# Synchronization interval
target_update_interval = 10
update_counter = 0

def train_step(states, actions, rewards, next_states, dones, gamma):
    global update_counter

    with tf.GradientTape() as tape:
        # Online network Q-values
        online_q_values = online_model(states)
        online_q_values_taken = tf.gather_nd(online_q_values, tf.stack([tf.range(tf.shape(actions)[0]), actions], axis=1))

        # Target network Q-values
        target_q_values = target_model(next_states)
        max_next_q = tf.reduce_max(target_q_values, axis=1)

        # Calculate target Q-value
        target = rewards + gamma * max_next_q * (1 - dones)

        # Calculate loss
        loss = tf.reduce_mean(tf.square(target - online_q_values_taken))

    # Compute gradients only for the online network's trainable variables
    gradients = tape.gradient(loss, online_model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, online_model.trainable_variables))


    # Target network update
    update_counter +=1
    if update_counter % target_update_interval == 0:
      target_model.set_weights(online_model.get_weights())

    return loss

# Dummy training data (assuming these are tensors created outside)
states = tf.random.normal(shape=(32, 10))
actions = tf.random.uniform(shape=(32,), minval=0, maxval=num_actions, dtype=tf.int32)
rewards = tf.random.normal(shape=(32,))
next_states = tf.random.normal(shape=(32, 10))
dones = tf.random.uniform(shape=(32,), minval=0, maxval=2, dtype=tf.float32)
gamma = 0.99

# Execute training step
loss = train_step(states, actions, rewards, next_states, dones, gamma)
