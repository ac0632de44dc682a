import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(314)
BATCH = 16


class TraceQ(keras.Model):
    def __init__(self):
        super().__init__()
        self.write = keras.layers.Dense(8, activation="tanh")
        self.q = keras.layers.Dense(2)
        self.trace = self.add_weight(shape=(BATCH, 8), initializer="zeros", trainable=False)

    def call(self, obs):
        carried = 0.7 * self.trace + self.write(obs)
        self.trace.assign(carried)
        return self.q(tf.concat([obs, carried], axis=1))


net = TraceQ()
net(tf.zeros((BATCH, 3)))
opt = keras.optimizers.Adam(5e-3)


@tf.function
def train(first, second, act, rew):
    net.trace.assign(tf.zeros((BATCH, 8)))
    with tf.GradientTape() as tape:
        net(first)
        q = net(second)
        chosen = tf.reduce_sum(q * tf.one_hot(act, 2), axis=1)
        loss = tf.reduce_mean(tf.square(rew - chosen))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for it in range(20):
    first, second = (np.random.randn(BATCH, 3).astype("float32") for _ in range(2))
    act = np.random.randint(2, size=BATCH)
    rew = ((first[:, 0] > 0) == act).astype("float32")
    loss = train(first, second, act, rew)
    if it % 5 == 0:
        print("it", it, "loss", round(float(loss), 4))
