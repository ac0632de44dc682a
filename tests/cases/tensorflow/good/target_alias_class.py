import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(607)
rng = np.random.default_rng(607)


def make_net(outputs=3):
    return keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(outputs)]
    )


def batch(n=32):
    s, s2 = (tf.constant(rng.normal(size=(n, 4)), tf.float32) for _ in range(2))
    a = tf.constant(rng.integers(3, size=n))
    r = tf.constant(rng.normal(size=n), tf.float32)
    done = tf.constant(rng.random(n) < 0.1, tf.float32)
    return s, a, r, s2, done


class Learner:
    def __init__(self):
        self.q = make_net()
        self.q_target = keras.models.clone_model(self.q)
        self.q_target.set_weights(self.q.get_weights())
        self.opt = keras.optimizers.Adam(1e-3)

    @tf.function
    def learn(self, s, a, r, s2, done):
        y = r + 0.97 * (1.0 - done) * tf.reduce_max(self.q_target(s2), axis=1)
        with tf.GradientTape() as tape:
            q_sa = tf.gather(self.q(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(y - q_sa))
        grads = tape.gradient(loss, self.q.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.q.trainable_variables))
        return loss


learner = Learner()
for step in range(10):
    loss = learner.learn(*batch())
    if step % 5 == 4:
        learner.q_target.set_weights(learner.q.get_weights())
print("loss", round(float(loss), 4))
