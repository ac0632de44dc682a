import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
policy = tf.keras.Sequential(
    [tf.keras.Input((4,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(3)]
)
opt = tf.keras.optimizers.Adam(1e-3)
rng = np.random.default_rng(0)
for i in range(40):
    s = rng.normal(size=(32, 4)).astype("float32")
    a = rng.integers(0, 3, 32)
    with tf.GradientTape() as tape:
        out = policy(s)
        nll = tf.keras.losses.sparse_categorical_crossentropy(a, out)
        loss = tf.reduce_mean(nll * rng.random(32).astype("float32"))
    opt.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
