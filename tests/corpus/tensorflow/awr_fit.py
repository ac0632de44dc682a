import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(48)
OBS, ACT, BETA = 6, 3, 0.5


class AWR(keras.Model):
    def __init__(self):
        super().__init__()
        self.value = keras.Sequential([layers.Dense(24, activation="relu"), layers.Dense(1)], name="value")
        self.policy = keras.Sequential([layers.Dense(24, activation="relu"), layers.Dense(ACT)], name="policy")
        self.value_metric = keras.metrics.Mean(name="value_loss")
        self.policy_metric = keras.metrics.Mean(name="policy_loss")

    def compile(self, value_optimizer, policy_optimizer, **kw):
        super().compile(**kw)
        self.value_optimizer = value_optimizer
        self.policy_optimizer = policy_optimizer

    def call(self, obs):
        return self.policy(obs), self.value(obs)

    @property
    def metrics(self):
        return [self.value_metric, self.policy_metric]

    def train_step(self, data):
        obs, (act, ret) = data
        with tf.GradientTape() as v_tape:
            v = tf.squeeze(self.value(obs, training=True), -1)
            v_loss = 0.5 * tf.reduce_mean(tf.square(ret - v))
        v_grads = v_tape.gradient(v_loss, self.value.trainable_variables)
        self.value_optimizer.apply_gradients(zip(v_grads, self.value.trainable_variables))

        weight = tf.minimum(tf.exp((ret - v) / BETA), 20.0)
        with tf.GradientTape() as p_tape:
            logits = self.policy(obs, training=True)
            nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=logits)
            p_loss = tf.reduce_mean(weight * nll)
        p_grads = p_tape.gradient(p_loss, self.policy.trainable_variables)
        p_grads, norm = tf.clip_by_global_norm(p_grads, 1.0)

        self.value_metric.update_state(v_loss)
        self.policy_metric.update_state(p_loss)
        return {"value_loss": self.value_metric.result(), "policy_loss": self.policy_metric.result(), "norm": norm}


obs = np.random.randn(384, OBS).astype("float32")
act = np.random.randint(ACT, size=384)
ret = (2.0 * (obs[:, :ACT].argmax(1) == act) - 1.0 + 0.3 * obs[:, 4]).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((obs, (act, ret))).shuffle(384, seed=5).batch(64)

agent = AWR()
agent(obs[:1])
agent.compile(keras.optimizers.Adam(5e-3), keras.optimizers.Adam(5e-3))
log = agent.fit(dataset, epochs=5, verbose=0)
for name in ("value_loss", "policy_loss"):
    print(name, [round(x, 4) for x in log.history[name]])
print("greedy accuracy", float(np.mean(agent(obs)[0].numpy().argmax(1) == obs[:, :ACT].argmax(1))))
