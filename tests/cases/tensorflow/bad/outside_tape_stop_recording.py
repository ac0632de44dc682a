import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(323)


class ActorCritic(keras.Model):
    def __init__(self, n_actions):
        super().__init__()
        self.torso = keras.layers.Dense(24, activation="tanh")
        self.policy = keras.layers.Dense(n_actions)
        self.value = keras.layers.Dense(1)

    def call(self, obs):
        return self.policy(self.torso(obs)), self.value(obs)[:, 0]


model = ActorCritic(3)
optimizer = keras.optimizers.RMSprop(2e-3)
model(np.zeros((1, 4), "float32"))


@tf.function
def learn(obs, act, ret):
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            logits, value = model(obs)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=1))
        logp = tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(act, 3), axis=1)
        value_loss = tf.reduce_mean(tf.square(ret - model.value(obs)[:, 0]))
        loss = -tf.reduce_mean(logp * tf.stop_gradient(ret - value)) + 0.5 * value_loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return entropy, loss


for it in range(20):
    obs = np.random.randn(48, 4).astype("float32")
    act = tf.random.categorical(model(obs)[0], 1, seed=it)[:, 0]
    ret = tf.cast(act == obs[:, :3].argmax(axis=1), tf.float32)
    entropy, loss = learn(obs, act, ret)
    if it % 5 == 0:
        print("it", it, "reward", float(tf.reduce_mean(ret)), "entropy", round(float(entropy), 4), "loss", round(float(loss), 4))
