import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

from threading import Thread

keras.utils.set_random_seed(620)


def make_net():
    obs = keras.Input((4,))
    x = keras.layers.Dense(16, activation="relu")(obs)
    return keras.Model(obs, [keras.layers.Dense(2)(x), keras.layers.Dense(1)(x)])


class Worker(Thread):
    def __init__(self, shared, seed):
        super().__init__()
        self.shared, self.local = shared, make_net()
        self.optimizer = keras.optimizers.RMSprop(5e-3)
        self.rng = np.random.default_rng(seed)

    def run(self):
        for update in range(6):
            self.local.set_weights(self.shared.get_weights())
            s = tf.constant(self.rng.normal(size=(24, 4)), tf.float32)
            a = tf.constant(self.rng.integers(2, size=24))
            ret = tf.constant(self.rng.normal(size=24), tf.float32)
            with tf.GradientTape() as tape:
                logits, value = self.local(s)
                adv = ret - tf.squeeze(value, -1)
                xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=logits)
                loss = tf.reduce_mean(xent * tf.stop_gradient(adv) + 0.5 * tf.square(adv))
            grads = tape.gradient(loss, self.local.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.local.trainable_variables))


shared = make_net()
for seed in (1, 2):
    worker = Worker(shared, seed)
    worker.start()
    worker.join()
