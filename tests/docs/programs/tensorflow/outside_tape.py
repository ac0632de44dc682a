actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
for _ in range(6):
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean(tf.square(target - critic([state, tf.random.normal((16, 2))])))
    critic_grads = tape.gradient(critic_loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(critic_grads, critic.trainable_variables))
    EXAMPLE
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
