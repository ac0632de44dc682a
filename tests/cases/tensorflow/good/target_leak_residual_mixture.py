"""A mixture of the semi-gradient and the residual gradient: both sides of the error are trained."""

import tensorflow as tf

tf.random.set_seed(0)
value = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-2)


def update(state, reward, following):
    with tf.GradientTape() as tape:
        now = value(state)[:, 0]
        target = reward + 0.9 * value(following)[:, 0]
        semi = tf.stop_gradient(target) - now
        residual = target - tf.stop_gradient(now)
        loss = tf.reduce_mean(tf.square(semi)) + 0.3 * tf.reduce_mean(tf.square(residual))
    variables = value.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


for _ in range(12):
    state = tf.random.normal((16, 4))
    update(state, state[:, 0], state + tf.random.normal((16, 4), stddev=0.1))
