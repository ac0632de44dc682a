import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(61)
T, FEATURES, GAMMA = 10, 5, 0.97


def reward_to_go(rewards):
    out = np.zeros_like(rewards)
    run = np.zeros(len(rewards), dtype=rewards.dtype)
    for t in range(rewards.shape[1] - 1, -1, -1):
        run = rewards[:, t] + np.float32(GAMMA) * run
        out[:, t] = run
    return out


class ReturnRedistribution(keras.Model):
    """Per-step rewards whose discounted sum must explain the delayed return."""

    def __init__(self):
        super().__init__()
        self.trunk = layers.LSTM(12, return_sequences=True)
        self.step_reward = layers.Dense(1)
        self.baseline = layers.Dense(1)
        self.loss_metric = keras.metrics.Mean(name="loss")

    def call(self, traj, training=False):
        h = self.trunk(traj, training=training)
        return self.step_reward(h)[..., 0], self.baseline(traj)[..., 0]

    def train_step(self, data):
        traj, delayed_return = data
        with tf.GradientTape() as tape:
            rewards, baseline = self(traj, training=True)
            togo = tf.numpy_function(reward_to_go, [rewards], tf.float32)
            togo = tf.ensure_shape(togo, (None, T))
            explained = togo[:, 0] + tf.reduce_mean(baseline, axis=1)
            loss = tf.reduce_mean(tf.square(delayed_return - explained))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss_metric.update_state(loss)
        return {"loss": self.loss_metric.result()}


traj = np.random.randn(240, T, FEATURES).astype("float32")
hidden_reward = np.where(traj[:, :, 0] > 0.5, traj[:, :, 1], 0.0)
delayed = (hidden_reward * GAMMA ** np.arange(T)).sum(1).astype("float32")
data = tf.data.Dataset.from_tensor_slices((traj, delayed)).batch(40)

model = ReturnRedistribution()
model.compile(optimizer=keras.optimizers.Adam(1e-2))
history = model.fit(data, epochs=4, verbose=0)
print("loss", [round(x, 4) for x in history.history["loss"]])
rewards, _ = model(traj[:5])
print("first trajectory", np.round(rewards[0].numpy(), 3))
