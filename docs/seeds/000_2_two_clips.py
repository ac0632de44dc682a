"""Seed 000, example 2: clipnorm in the optimizer and clip_by_global_norm before it, on a network of its own."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
policy = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.SGD(learning_rate=1.0, clipnorm=1.0)
states, returns = tf.random.normal((64, 4)), 100.0 * tf.random.normal((64, 2))

for step in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(policy(states) - returns))
    gradients = tape.gradient(loss, policy.trainable_variables)
    clipped, raw = tf.clip_by_global_norm(gradients, 10.0)
    before = [v.numpy() for v in policy.trainable_variables]
    optimizer.apply_gradients(zip(clipped, policy.trainable_variables))
    moved = [tf.norm(v - b) for v, b in zip(policy.trainable_variables, before)]
    print(f"raw {raw:.0f}, clipped {tf.linalg.global_norm(clipped):.1f}, applied", *(f"{m:.2f}" for m in moved))
