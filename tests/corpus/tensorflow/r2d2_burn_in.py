import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(30)
UNITS, BURN, LEARN, N_ACT, GAMMA = 12, 3, 5, 2, 0.9


class RecurrentQ(keras.Model):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.embed = layers.Dense(12, activation="relu")
        self.lstm = layers.LSTM(UNITS, return_sequences=True, return_state=True)
        self.head = layers.Dense(N_ACT)

    def call(self, obs, state=None):
        seq, h, c = self.lstm(self.embed(obs), initial_state=state)
        return self.head(seq), [h, c]


online, target = RecurrentQ(name="online"), RecurrentQ(name="target")
for net in (online, target):
    net(tf.zeros((1, 2, 4)))
target.set_weights(online.get_weights())
opt = keras.optimizers.Adam(4e-3, epsilon=1e-3)


def h_scale(x):
    return tf.sign(x) * (tf.sqrt(tf.abs(x) + 1.0) - 1.0) + 1e-3 * x


def h_inverse(x):
    return tf.sign(x) * (((tf.sqrt(1.0 + 4e-3 * (tf.abs(x) + 1.0 + 1e-3)) - 1.0) / 2e-3) ** 2 - 1.0)


def sequences(n=24):
    """first symbol of the sequence tells which action pays from then on"""
    T = BURN + LEARN + 1
    cue = np.random.randint(2, size=n)
    obs = 0.1 * np.random.randn(n, T, 4)
    obs[:, 0, 0] += 2.0 * cue - 1.0
    act = np.random.randint(N_ACT, size=(n, T))
    rew = (act == cue[:, None]).astype("float32")
    return tf.constant(obs, tf.float32), tf.constant(act), tf.constant(rew)


@tf.function
def learn(obs, act, rew, weight):
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            _, state = online(obs[:, :BURN])
            _, tstate = target(obs[:, :BURN])
            q_next, _ = target(obs[:, BURN:], tstate)
        q, _ = online(obs[:, BURN:], state)
        best = tf.argmax(q[:, 1:], axis=-1)
        boot = tf.gather(q_next[:, 1:], best, axis=2, batch_dims=2)
        y = h_scale(rew[:, BURN:-1] + GAMMA * h_inverse(boot))
        chosen = tf.gather(q[:, :-1], act[:, BURN:-1], axis=2, batch_dims=2)
        td = tf.stop_gradient(y) - chosen
        loss = tf.reduce_mean(weight * tf.reduce_mean(0.5 * td ** 2, axis=1))
    grads = tape.gradient(loss, online.trainable_variables)
    opt.apply_gradients([(tf.clip_by_norm(g, 20.0), v) for g, v in zip(grads, online.trainable_variables)])
    return loss, 0.9 * tf.reduce_max(tf.abs(td), axis=1) + 0.1 * tf.reduce_mean(tf.abs(td), axis=1)


priorities = np.ones(24, dtype="float32")
for it in range(30):
    w = (priorities / priorities.max()) ** -0.4
    loss, prio = learn(*sequences(), tf.constant(w / w.max(), tf.float32))
    priorities = prio.numpy() + 1e-3
    if it % 5 == 4:
        for t, o in zip(target.weights, online.weights):
            t.assign(o)
        print("it", it, "loss", round(float(loss), 4))
