import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
actor = tf.keras.Sequential(
    [
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1, activation="tanh"),
    ]
)
critic = tf.keras.Sequential(
    [tf.keras.Input((5,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)]
)
a_opt, c_opt = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)
rng = np.random.default_rng(0)
for i in range(40):
    s = rng.normal(size=(16, 4)).astype("float32")
    a = rng.normal(size=(16, 1)).astype("float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((critic(tf.concat([s, a], 1)) - s[:, :1]) ** 2)
    c_opt.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        act = np.clip(actor(s), -0.9, 0.9)
        aloss = -tf.reduce_mean(critic(tf.concat([s, act], 1))) + 1e-3 * tf.reduce_mean(tf.square(actor(s)))
    grads = tape.gradient(aloss, actor.trainable_variables)
    a_opt.apply_gradients(zip(grads, actor.trainable_variables))
