from threading import Thread

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(37)


def make_net():
    obs = keras.Input((4,))
    x = keras.layers.Dense(16, activation="relu")(obs)
    return keras.Model(obs, [keras.layers.Dense(2)(x), keras.layers.Dense(1)(x)])


class Worker(Thread):
    def __init__(self, shared, optimizer, seed, updates=6):
        super().__init__(name=f"worker-{seed}")
        self.shared, self.optimizer, self.updates = shared, optimizer, updates
        self.local = make_net()
        self.rng = np.random.default_rng(seed)

    def pull(self):
        for mine, theirs in zip(self.local.variables, self.shared.variables):
            mine.assign(theirs)

    def play(self, n=24):
        obs = self.rng.normal(size=(n, 4)).astype(np.float32)
        logits = self.local(obs)[0].numpy()
        act = np.argmax(logits + self.rng.gumbel(size=logits.shape), axis=1)
        return obs, act, (act == (obs[:, 0] * obs[:, 1] > 0)).astype(np.float32)

    def gradients(self, obs, act, ret):
        with tf.GradientTape() as tape:
            logits, value = self.local(obs)
            adv = ret - value[:, 0]
            xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=logits)
            loss = tf.reduce_mean(xent * tf.stop_gradient(adv) + 0.5 * tf.square(adv))
        return tape.gradient(loss, self.local.trainable_variables), float(loss)

    def run(self):
        for update in range(self.updates):
            self.pull()
            grads, loss = self.gradients(*self.play())
            grads, _ = tf.clip_by_global_norm(grads, 5.0)
            self.optimizer.apply_gradients(zip(grads, self.shared.trainable_variables))
            print(self.name, update, round(loss, 4))


shared = make_net()
optimizer = keras.optimizers.Adam(5e-3)
optimizer.build(shared.trainable_variables)
for seed in (1, 2):
    worker = Worker(shared, optimizer, seed)
    worker.start()
    worker.join()
