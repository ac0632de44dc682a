import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(5)


def network(n_obs, n_act):
    return keras.Sequential(
        [keras.Input((n_obs,)), layers.Dense(32), layers.BatchNormalization(), layers.ReLU(), layers.Dense(n_act)]
    )


class Learner:
    def __init__(self, n_obs=4, n_act=3, gamma=0.97):
        self.q, self.frozen_q = network(n_obs, n_act), network(n_obs, n_act)
        self.frozen_q.set_weights(self.q.get_weights())
        self.opt = keras.optimizers.Adam(1e-3)
        self.gamma = gamma

    @tf.function
    def update(self, s, a, r, s2, done):
        best = tf.reduce_max(self.frozen_q(s2, training=False), axis=1)
        goal = r + self.gamma * (1.0 - done) * best
        with tf.GradientTape() as tape:
            chosen = tf.gather(self.q(s, training=True), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - chosen))
        grads = tape.gradient(loss, self.q.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.q.trainable_variables))
        return loss


def main():
    rng, learner = np.random.default_rng(0), Learner()
    for step in range(40):
        s, s2 = rng.normal(size=(2, 32, 4)).astype(np.float32)
        a = rng.integers(0, 3, 32)
        r, done = (s[:, 0] > 0).astype(np.float32), (rng.random(32) < 0.1).astype(np.float32)
        loss = learner.update(s, a, r, s2, done)
        if step % 10 == 0:
            learner.frozen_q.set_weights(learner.q.get_weights())
            print(step, float(loss))


main()
