import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(88)
CLIP, GAMMA, LAM, STEPS = 0.2, 0.95, 0.9, 128
env = gym.make("Pendulum-v1")


def head(n_out):
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(24, activation="tanh"), keras.layers.Dense(n_out)])


mu_net = head(1)
log_std = tf.Variable([0.0], name="log_std")
v_net = head(1)
pi_optimizer = keras.optimizers.Adam(3e-3)
v_optimizer = keras.optimizers.Adam(1e-2)


def gaussian_logp(obs, act):
    std = tf.exp(log_std)
    return tf.reduce_sum(-0.5 * ((act - mu_net(obs)) / std) ** 2 - log_std - 0.919, axis=1)


@tf.function
def ppo_step(obs, act, adv, old_logp):
    with tf.GradientTape() as tape:
        ratio = tf.exp(gaussian_logp(obs, act) - old_logp)
        surrogate = tf.minimum(ratio * adv, tf.clip_by_value(ratio, 1 - CLIP, 1 + CLIP) * adv)
        entropy = tf.reduce_sum(log_std + 1.419)
        loss = -tf.reduce_mean(surrogate) - 0.01 * entropy
    grads = tape.gradient(loss, mu_net.trainable_variables)
    pi_optimizer.apply_gradients(zip(grads, mu_net.trainable_variables))
    return loss


@tf.function
def value_step(obs, ret):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.squeeze(v_net(obs), 1) - ret) ** 2)
    grads = tape.gradient(loss, v_net.trainable_variables)
    v_optimizer.apply_gradients(zip(grads, v_net.trainable_variables))
    return loss


o, _ = env.reset(seed=1)
for update in range(3):
    obs, acts, rews = [], [], []
    for t in range(STEPS):
        a = mu_net(o[None]).numpy()[0] + np.exp(log_std.numpy()) * np.random.randn(1)
        obs.append(o)
        acts.append(a.astype("float32"))
        o, r, _, trunc, _ = env.step(np.clip(a, -2, 2))
        rews.append(r / 10.0)
        if trunc:
            o, _ = env.reset()
    obs, acts, rews = np.array(obs, "float32"), np.array(acts), np.array(rews, "float32")
    values = np.append(v_net(obs).numpy()[:, 0], v_net(o[None]).numpy()[0, 0])
    delta = rews + GAMMA * values[1:] - values[:-1]
    adv, run = np.zeros(STEPS, "float32"), 0.0
    for t in reversed(range(STEPS)):
        run = delta[t] + GAMMA * LAM * run
        adv[t] = run
    ret = adv + values[:-1]
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    old_logp = gaussian_logp(obs, acts).numpy()
    for epoch in range(5):
        for idx in np.array_split(np.random.permutation(STEPS), 4):
            pl = ppo_step(obs[idx], acts[idx], adv[idx], old_logp[idx])
            vl = value_step(obs[idx], ret[idx])
    print("update", update, "pi %.4f v %.4f std %.3f" % (pl, vl, np.exp(log_std.numpy()[0])))
