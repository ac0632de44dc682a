"""Options chosen with a Gumbel-softmax selector (differentiable reward model)."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(8)
keras.utils.set_random_seed(8)
N_OPTIONS = 3

selector = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(N_OPTIONS)], name="selector")
options = [keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)], name=f"option_{i}") for i in range(N_OPTIONS)]
opt = keras.optimizers.Adam(5e-3)


def gumbel_softmax(logits, temperature=0.8, hard=True):
    u = tf.random.uniform(tf.shape(logits), 1e-6, 1.0 - 1e-6)
    soft = tf.nn.softmax((logits - tf.math.log(-tf.math.log(u))) / temperature)
    if not hard:
        return soft
    one_hot = tf.one_hot(tf.argmax(soft, axis=-1), N_OPTIONS)
    return one_hot + tf.stop_gradient(soft) - tf.stop_gradient(soft)


def reward_model(s, a):
    goal = tf.where(s[:, :1] > 0, s[:, 1:2], -s[:, 2:3])
    return -tf.square(a - goal)


@tf.function
def train_step(s):
    variables = selector.trainable_variables + [v for o in options for v in o.trainable_variables]
    with tf.GradientTape() as tape:
        w = gumbel_softmax(selector(s))
        acts = tf.stack([o(s) for o in options], axis=1)
        a = tf.einsum("bo,boa->ba", w, acts)
        loss = -tf.reduce_mean(reward_model(s, a))
    grads = tape.gradient(loss, variables)
    opt.apply_gradients(zip(grads, variables))
    return loss


for epoch in range(4):
    losses = [float(train_step(tf.constant(rng.normal(size=(64, 4)), tf.float32))) for _ in range(5)]
    usage = np.bincount(np.argmax(selector.predict(rng.normal(size=(100, 4)), verbose=0), 1), minlength=N_OPTIONS)
    print("epoch", epoch, "loss", np.mean(losses).round(4), "usage", usage)
