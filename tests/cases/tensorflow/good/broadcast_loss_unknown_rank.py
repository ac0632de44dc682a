"""Critic regression, compiled once for all targets: their rank is known when it runs."""

import tensorflow as tf

tf.random.set_seed(0)
critic = tf.keras.Sequential(
    [tf.keras.layers.Input((4,)), tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)]
)
optimizer = tf.keras.optimizers.Adam(1e-2)
states = tf.TensorSpec((None, 4), tf.float32)


@tf.function(input_signature=[states, tf.TensorSpec(None, tf.float32)])
def train(state, returns):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(returns - critic(state)))
    variables = critic.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for _ in range(12):
    batch = tf.random.normal((16, 4))
    train(batch, tf.reduce_sum(batch, 1, keepdims=True))
