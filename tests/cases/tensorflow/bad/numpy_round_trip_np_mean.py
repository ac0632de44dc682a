import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(349)


class A2C:
    def __init__(self, n_obs, n_act):
        self.policy = keras.Sequential([keras.Input((n_obs,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(n_act)])
        self.value = keras.Sequential([keras.Input((n_obs,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
        self.policy_opt = keras.optimizers.Adam(2e-3)
        self.value_opt = keras.optimizers.Adam(2e-3)

    def update_value(self, obs, ret):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(ret - self.value(obs)[:, 0]))
        grads = tape.gradient(loss, self.value.trainable_variables)
        self.value_opt.apply_gradients(zip(grads, self.value.trainable_variables))
        return loss

    def update_policy(self, obs, act, ret):
        advantage = ret - self.value(obs).numpy()[:, 0]
        with tf.GradientTape() as tape:
            logp = tf.nn.log_softmax(self.policy(obs))
            chosen = tf.reduce_sum(logp * tf.one_hot(act, logp.shape[1]), axis=1)
            loss = -np.mean(chosen * advantage)
        grads = tape.gradient(loss, self.policy.trainable_variables)
        self.policy_opt.apply_gradients(zip(grads, self.policy.trainable_variables))
        return loss


agent = A2C(4, 3)
for it in range(10):
    obs = np.random.randn(32, 4).astype("float32")
    act = tf.random.categorical(agent.policy(obs), 1).numpy()[:, 0]
    ret = obs[np.arange(32), act]
    value_loss = agent.update_value(obs, ret)
    policy_loss = agent.update_policy(obs, act, ret)
    print("it", it, "value", round(float(value_loss), 4), "policy", round(float(policy_loss), 4))
