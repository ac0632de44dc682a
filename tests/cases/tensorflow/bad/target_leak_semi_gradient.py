import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(602)
rng = np.random.default_rng(602)


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(24, activation="tanh")
        self.value = keras.layers.Dense(1)

    def call(self, s):
        return tf.squeeze(self.value(self.hidden(s)), -1)


critic = Critic()
optimizer = keras.optimizers.SGD(1e-2)
for step in range(12):
    s, s2 = (tf.constant(rng.normal(size=(32, 4)), tf.float32) for _ in range(2))
    r = tf.constant(rng.normal(size=32), tf.float32)
    with tf.GradientTape() as tape:
        v_next = critic(s2)
        td = r + 0.95 * v_next - critic(s)
        loss = tf.reduce_mean(tf.square(td))
    grads = tape.gradient(loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(grads, critic.trainable_variables))
print("loss", round(float(loss), 4))
