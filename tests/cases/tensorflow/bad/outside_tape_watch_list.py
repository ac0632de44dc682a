import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(326)

mean = keras.Sequential([keras.Input((3,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(2)])
log_std = tf.Variable(-0.5 * tf.ones(2), name="log_std")
policy_variables = mean.trainable_variables + [log_std]
optimizer = keras.optimizers.Adam(3e-3)


def log_prob(obs, act):
    z = (act - mean(obs)) / tf.exp(log_std)
    return -tf.reduce_sum(0.5 * z ** 2 + log_std + 0.919, axis=1)


@tf.function
def policy_gradient(obs, act, adv):
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(mean.trainable_variables)
        loss = -tf.reduce_mean(log_prob(obs, act) * adv)
    grads = tape.gradient(loss, policy_variables)
    optimizer.apply_gradients(zip(grads, policy_variables))
    return loss


for it in range(20):
    obs = np.random.randn(64, 3).astype("float32")
    act = mean(obs).numpy() + np.exp(log_std.numpy()) * np.random.randn(64, 2).astype("float32")
    rew = -np.sum((act - obs[:, :2]) ** 2, axis=1)
    adv = ((rew - rew.mean()) / rew.std()).astype("float32")
    loss = policy_gradient(obs, act, adv)
    if it % 5 == 0:
        print("it", it, "reward", round(float(rew.mean()), 3), "std", np.exp(log_std.numpy()).round(3))
