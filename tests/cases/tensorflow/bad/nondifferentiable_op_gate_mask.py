import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(313)


class MixtureQ(keras.Model):
    def __init__(self, n_actions):
        super().__init__()
        self.gate = keras.layers.Dense(1, activation="sigmoid")
        self.near = keras.layers.Dense(n_actions)
        self.far = keras.layers.Dense(n_actions)

    def call(self, obs):
        g = self.gate(obs)
        use = tf.cast(g > 0.5, tf.float32)
        return use * self.near(obs) + (1.0 - use) * self.far(obs)


agent, target = MixtureQ(3), MixtureQ(3)
agent(np.zeros((1, 4), "float32")), target(np.zeros((1, 4), "float32"))
target.set_weights(agent.get_weights())
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.Huber()

for it in range(15):
    obs = np.random.randn(48, 4).astype("float32")
    act = np.random.randint(3, size=48)
    rew = np.where(obs[:, 3] > 0, obs[np.arange(48), act], -obs[np.arange(48), act])
    best = tf.argmax(agent(obs), axis=1)
    y = rew + 0.5 * tf.gather(target(obs), best, axis=1, batch_dims=1)
    with tf.GradientTape() as tape:
        q = tf.gather(agent(obs), act, axis=1, batch_dims=1)
        loss = loss_fn(y, q)
    grads = tape.gradient(loss, agent.trainable_variables)
    optimizer.apply_gradients(zip(grads, agent.trainable_variables))
    if it % 5 == 4:
        target.set_weights(agent.get_weights())
        print("it", it, "loss", round(float(loss), 4))
