import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(310)
N_ACTIONS = 4


class Net(keras.Model):
    def __init__(self, n_out):
        super().__init__()
        self.h1 = keras.layers.Dense(24, activation="relu")
        self.out = keras.layers.Dense(n_out)

    def call(self, inputs):
        return self.out(self.h1(inputs))


actor, critic = Net(N_ACTIONS), Net(1)
a_opt, c_opt = keras.optimizers.Adam(2e-3), keras.optimizers.Adam(2e-3)


def greedy(logits):
    return tf.nn.softmax(logits, axis=-1)


def train(obs, act, rew):
    with tf.GradientTape() as tape:
        td = critic(tf.concat([obs, tf.one_hot(act, N_ACTIONS)], 1))[:, 0] - rew
        c_loss = tf.reduce_mean(td ** 2)
    grads = tape.gradient(c_loss, critic.trainable_variables)
    c_opt.apply_gradients(zip(grads, critic.trainable_variables))

    with tf.GradientTape() as tape:
        a_loss = -tf.reduce_mean(critic(tf.concat([obs, greedy(actor(obs))], 1)))
    grads = tape.gradient(a_loss, actor.trainable_variables)
    a_opt.apply_gradients(zip(grads, actor.trainable_variables))
    return float(c_loss), float(a_loss)


for it in range(10):
    obs = np.random.randn(32, 5).astype("float32")
    act = tf.argmax(actor(obs) + np.random.gumbel(size=(32, N_ACTIONS)).astype("float32"), axis=-1).numpy()
    rew = obs[np.arange(32), act]
    c, a = train(obs, act, rew)
    print(f"{it:3d} critic {c:.4f} actor {a:.4f} reward {rew.mean():.3f}")
