import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(101)
OBS, LATENT, ACT, TAU = 8, 6, 3, 0.05


def dense_net(n_in, n_out, name):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(20, activation="relu"),
                             keras.layers.Dense(n_out)], name=name)


class SPR:
    """Q-learning on top of a latent space that predicts its own future."""

    def __init__(self):
        self.encoder = dense_net(OBS, LATENT, "encoder")
        self.ema_encoder = dense_net(OBS, LATENT, "ema_encoder")
        self.ema_encoder.set_weights(self.encoder.get_weights())
        self.transition = dense_net(LATENT + ACT, LATENT, "transition")
        self.q_head = keras.Sequential([keras.Input((LATENT,)), keras.layers.Dense(ACT)], name="q_head")
        self.q_target = keras.Sequential([keras.Input((LATENT,)), keras.layers.Dense(ACT)], name="q_target")
        self.q_target.set_weights(self.q_head.get_weights())
        self.spr_opt = keras.optimizers.Adam(2e-3)
        self.q_opt = keras.optimizers.Adam(2e-3)

    @tf.function
    def spr_step(self, s, a, s2):
        variables = self.encoder.trainable_variables + self.transition.trainable_variables
        with tf.GradientTape() as tape:
            z = self.encoder(s)
            pred = self.transition(tf.concat([z, tf.one_hot(a, ACT)], 1))
            pred = tf.stop_gradient(tf.math.l2_normalize(pred, axis=1))
            goal = tf.math.l2_normalize(self.ema_encoder(s2), axis=1)
            sim_loss = -tf.reduce_mean(tf.reduce_sum(pred * goal, axis=1))
            latent_reg = 1e-3 * tf.reduce_mean(z ** 2)
            loss = sim_loss + latent_reg
        grads = tape.gradient(loss, variables)
        self.spr_opt.apply_gradients(zip(grads, variables))
        return sim_loss

    @tf.function
    def q_step(self, s, a, r, s2):
        y = r + 0.9 * tf.reduce_max(self.q_target(self.ema_encoder(s2)), axis=1)
        z = self.encoder(s)
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(self.q_head(z) * tf.one_hot(a, ACT), axis=1)
            loss = tf.reduce_mean(tf.square(y - q))
        g = tape.gradient(loss, self.q_head.trainable_variables)
        self.q_opt.apply_gradients(zip(g, self.q_head.trainable_variables))
        return loss

    def ema(self):
        for slow, fast in ((self.ema_encoder, self.encoder), (self.q_target, self.q_head)):
            for t, o in zip(slow.variables, fast.variables):
                t.assign((1.0 - TAU) * t + TAU * o)


agent = SPR()
shift = np.random.randn(ACT, OBS).astype("float32")
for it in range(30):
    s = np.random.randn(32, OBS).astype("float32")
    a = np.random.randint(ACT, size=32)
    s2 = 0.8 * s + shift[a]
    sim = agent.spr_step(s, a, s2)
    q_loss = agent.q_step(s, a, s2[:, 0], s2)
    agent.ema()
    if it % 10 == 0:
        print("it", it, "similarity", round(-float(sim), 4), "q loss", round(float(q_loss), 4))
