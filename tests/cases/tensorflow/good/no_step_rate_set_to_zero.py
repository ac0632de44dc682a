import tensorflow as tf

tf.keras.utils.set_random_seed(35)


def train(updates=80):
    policy = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="tanh"), tf.keras.layers.Dense(2)])
    opt = tf.keras.optimizers.Adam(3e-3)
    for update in range(updates):
        obs = tf.random.normal((64, 4))
        expert = tf.cast(obs[:, 0] > 0, tf.int32)
        with tf.GradientTape() as tape:
            logits = policy(obs)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(expert, logits))
        grads = tape.gradient(loss, policy.trainable_variables)
        opt.apply_gradients(zip(grads, policy.trainable_variables))
        opt.learning_rate = 3e-3 * (1 - update / updates)
        if update % 20 == 0:
            print(update, round(float(loss), 4))


train()
