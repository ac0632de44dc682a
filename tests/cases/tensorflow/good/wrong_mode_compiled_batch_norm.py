import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
policy = tf.keras.Sequential(
    [
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(32),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Activation("relu"),
        tf.keras.layers.Dense(2),
    ]
)
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(s, a, ret):
    with tf.GradientTape() as tape:
        logits = policy(s, training=True)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=logits)
        loss = -tf.reduce_mean(logp * ret)
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


rng = np.random.default_rng(0)
for step in range(60):
    s = rng.normal(size=(16, 4)).astype("float32")
    logits = policy(s, training=False)
    a = tf.random.categorical(logits, 1)[:, 0]
    ret = rng.normal(size=16).astype("float32")
    train_step(s, a, ret)
