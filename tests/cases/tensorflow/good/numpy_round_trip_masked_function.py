import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
policy = tf.keras.Sequential(
    [tf.keras.Input((4,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)]
)
opt = tf.keras.optimizers.Adam(1e-3)


def scale(x, a):
    return (x * a[:, None]).astype("float32")


@tf.function
def step(s, a, adv):
    with tf.GradientTape() as tape:
        logits = policy(s)
        logp = tf.nn.log_softmax(logits)
        w = logp * adv[:, None]
        w.set_shape((16, 3))
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * logp, 1))
        loss = -tf.reduce_mean(tf.reduce_sum(w * tf.one_hot(a, 3), 1)) - 0.01 * entropy
    opt.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))


rng = np.random.default_rng(0)
for i in range(40):
    step(
        tf.constant(rng.normal(size=(16, 4)), tf.float32),
        tf.constant(rng.integers(0, 3, 16)),
        tf.constant(rng.normal(size=16), tf.float32),
    )
