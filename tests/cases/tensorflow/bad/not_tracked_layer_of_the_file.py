import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(8)
head = tf.keras.layers.Dense(2)


class Q(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.h = tf.keras.layers.Dense(32, activation="relu")

    def call(self, x):
        return head(self.h(x))


q = Q()
opt = tf.keras.optimizers.Adam(1e-3)
rng = np.random.default_rng(0)
for i in range(40):
    s = rng.normal(size=(16, 4)).astype("float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(q(s) - s[:, :2]))
    g = tape.gradient(loss, q.trainable_variables)
    opt.apply_gradients(zip(g, q.trainable_variables))
