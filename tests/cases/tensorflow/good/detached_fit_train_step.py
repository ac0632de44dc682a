import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(303)


class FittedQ(keras.Model):
    def __init__(self, n_actions, **kwargs):
        super().__init__(**kwargs)
        self.encoder = keras.Sequential([keras.layers.Dense(24, activation="relu"), keras.layers.Dense(12, activation="relu")])
        self.q_head = keras.layers.Dense(n_actions)
        self.gamma = 0.95

    def call(self, obs):
        features = self.encoder(obs)
        return self.q_head(features)

    def train_step(self, data):
        (obs, act, rew, nxt), _ = data
        target = rew + self.gamma * tf.reduce_max(self(nxt), axis=1)
        with tf.GradientTape() as tape:
            q = tf.gather(self(obs, training=True), act, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(tf.stop_gradient(target) - q))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"td_loss": loss}


obs = np.random.randn(256, 4).astype("float32")
act = np.random.randint(3, size=256)
rew = (act == obs[:, :3].argmax(axis=1)).astype("float32")
nxt = np.random.randn(256, 4).astype("float32")

model = FittedQ(3)
model.compile(optimizer=keras.optimizers.Adam(3e-3))
history = model.fit((obs, act, rew, nxt), np.zeros(256), batch_size=64, epochs=3, verbose=0)
print("loss", [round(float(x), 4) for x in history.history["td_loss"]])
