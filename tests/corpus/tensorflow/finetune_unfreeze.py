import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(44)


class Agent(keras.Model):
    def __init__(self, n_actions):
        super().__init__()
        self.backbone = keras.Sequential([keras.layers.Dense(24, activation="relu"), keras.layers.Dense(12, activation="relu")])
        self.head = keras.layers.Dense(n_actions)

    def call(self, obs):
        return self.head(self.backbone(obs))


class Learner:
    def __init__(self, agent, lr):
        self.agent = agent
        self.optimizer = keras.optimizers.Adam(lr)
        self.loss_fn = keras.losses.MeanSquaredError()

    def td_target(self, rew, nxt, gamma=0.9):
        return rew + gamma * tf.reduce_max(self.agent(nxt), axis=1)

    def update(self, obs, act, rew, nxt):
        y = self.td_target(rew, nxt)
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(self.agent(obs, training=True) * tf.one_hot(act, 3), axis=1)
            loss = self.loss_fn(y, q)
        grads = tape.gradient(loss, self.agent.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.agent.trainable_variables))
        return float(loss)


def batch(n=32):
    obs = np.random.randn(n, 5).astype("float32")
    act = np.random.randint(3, size=n)
    return obs, act, obs[np.arange(n), act], np.random.randn(n, 5).astype("float32")


agent = Agent(3)
agent(np.zeros((1, 5), "float32"))
agent.backbone.trainable = False
learner = Learner(agent, 2e-3)

print("phase 1: head only")
for i in range(5):
    print("  loss", round(learner.update(*batch()), 4))

print("phase 2: everything")
agent.backbone.trainable = True
for i in range(5):
    print("  loss", round(learner.update(*batch()), 4))
