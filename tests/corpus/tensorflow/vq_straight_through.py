import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(19)
K, D, SKILLS = 8, 3, 2


class VectorQuantizer(keras.layers.Layer):
    def __init__(self, beta=0.25):
        super().__init__()
        self.beta = beta

    def build(self, shape):
        self.codes = self.add_weight(shape=(K, D), initializer="random_uniform", name="codes")

    def call(self, z):
        codes = tf.convert_to_tensor(self.codes)
        distance = tf.reduce_sum(tf.square(z[:, None, :] - codes[None]), axis=-1)
        index = tf.argmin(distance, axis=1)
        q = tf.gather(codes, index)
        loss = tf.reduce_mean(tf.square(tf.stop_gradient(z) - q)) + self.beta * tf.reduce_mean(tf.square(z - tf.stop_gradient(q)))
        return z + tf.stop_gradient(q - z), loss, index


def hard_choice(logits, tau):
    g = -tf.math.log(-tf.math.log(tf.random.uniform(tf.shape(logits), 1e-6, 1.0 - 1e-6)))
    soft = tf.nn.softmax((logits + g) / tau)
    hard = tf.one_hot(tf.argmax(soft, axis=1), SKILLS)
    return hard + soft - tf.stop_gradient(soft)


class Hierarchy(keras.Model):
    def __init__(self):
        super().__init__()
        self.encode = keras.layers.Dense(D)
        self.vq = VectorQuantizer()
        self.choose = keras.layers.Dense(SKILLS)
        self.skills = [keras.layers.Dense(1, activation="tanh") for _ in range(SKILLS)]

    def call(self, obs, tau=1.0):
        code, vq_loss, index = self.vq(self.encode(obs))
        gate = hard_choice(self.choose(code), tau)
        actions = tf.stack([s(tf.concat([code, obs], 1)) for s in self.skills], axis=1)
        return tf.reduce_sum(gate[..., None] * actions, axis=1), vq_loss, index


model = Hierarchy()
model(tf.zeros((1, 4)))
optimizer = keras.optimizers.Adam(5e-3)


@tf.function(jit_compile=True)
def train(obs, tau):
    with tf.GradientTape() as tape:
        action, vq_loss, index = model(obs, tau)
        reward = -tf.square(action - tf.sin(obs[:, :1]))
        loss = vq_loss - tf.reduce_mean(reward)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, index


for it in range(25):
    tau = tf.constant(max(0.5, 1.0 - 0.02 * it), tf.float32)
    loss, index = train(np.random.randn(48, 4).astype("float32"), tau)
    if it % 6 == 0:
        print("it", it, "loss", round(float(loss), 4), "codes", np.unique(index.numpy()).size)
