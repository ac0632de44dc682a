def make_policy():
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])


EXAMPLE
optimizer = keras.optimizers.Adam(1e-3)
for _ in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(target - act(state)))
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
