import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(99)
CODES, DIM = 12, 4


@keras.utils.register_keras_serializable()
class Codebook(keras.layers.Layer):
    def build(self, _):
        self.table = self.add_weight(shape=(CODES, DIM), initializer="random_normal", name="table")

    def call(self, z):
        distance = tf.reduce_sum(z ** 2, 1, keepdims=True) - 2.0 * z @ tf.transpose(self.table) + tf.reduce_sum(self.table ** 2, 1)
        code = tf.argmin(distance, axis=1)
        return tf.nn.embedding_lookup(tf.convert_to_tensor(self.table), code), code


class Decoder(keras.Model):
    def __init__(self, obs_dim):
        super().__init__()
        self.h = keras.layers.Dense(16, activation="relu")
        self.obs = keras.layers.Dense(obs_dim)
        self.rew = keras.layers.Dense(1)

    def call(self, inputs):
        h = self.h(tf.concat([inputs["code"], inputs["action"]], axis=1))
        return {"obs": self.obs(h), "reward": self.rew(h)[:, 0]}


encoder = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(DIM)], name="encoder")
codebook, decoder = Codebook(), Decoder(6)
optimizer = keras.optimizers.Adam(3e-3)


def world_model(batch):
    quantised, code = codebook(encoder(batch["obs"]))
    return decoder({"code": quantised, "action": batch["action"]}), code


def compute_loss(batch, prediction):
    obs_loss = tf.reduce_mean(tf.square(prediction["obs"] - batch["next_obs"]))
    reward_loss = tf.reduce_mean(tf.square(prediction["reward"] - batch["reward"]))
    return obs_loss + reward_loss


@tf.function
def train(batch):
    with tf.GradientTape() as tape:
        prediction, code = world_model(batch)
        loss = compute_loss(batch, prediction)
    weights = encoder.trainable_weights + codebook.trainable_weights + decoder.trainable_weights
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss, code


def fake_batch(n=48):
    obs = np.random.randn(n, 6).astype("float32")
    action = np.random.uniform(-1, 1, (n, 1)).astype("float32")
    return {"obs": obs, "action": action, "next_obs": 0.9 * obs + 0.1 * action, "reward": obs[:, 0] * action[:, 0]}


world_model(fake_batch(2))
for it in range(20):
    loss, code = train({k: tf.constant(v) for k, v in fake_batch().items()})
    if it % 5 == 0:
        print("it", it, "loss", round(float(loss), 4), "codes in use", len(np.unique(code)))
