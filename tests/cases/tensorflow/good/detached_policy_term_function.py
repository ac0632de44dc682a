import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(302)


def mlp(n_out):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(n_out)])


actor, critic = mlp(3), mlp(1)
optimizer = keras.optimizers.Adam(3e-3)


@tf.function
def train_step(obs, act, ret):
    variables = actor.trainable_variables + critic.trainable_variables
    with tf.GradientTape() as tape:
        value = critic(obs)[:, 0]
        advantage = ret - value
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=actor(obs))
        policy_loss = -tf.reduce_mean(logp * tf.stop_gradient(advantage))
        value_loss = tf.reduce_mean(tf.square(advantage))
        loss = policy_loss + 0.5 * value_loss
    grads = tape.gradient(loss, variables)
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, variables))
    return policy_loss, value_loss


for it in range(20):
    obs = np.random.randn(64, 4).astype("float32")
    act = tf.random.categorical(actor(obs), 1, seed=it).numpy()[:, 0]
    ret = (act == obs[:, :3].argmax(axis=1)).astype("float32")
    pl, vl = train_step(obs, act, ret)
    if it % 5 == 0:
        print("it", it, "reward", ret.mean(), "policy", round(float(pl), 4), "value", round(float(vl), 4))
