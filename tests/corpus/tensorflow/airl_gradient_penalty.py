import numpy as np
import tensorflow as tf
from tensorflow import keras

tf.random.set_seed(13), np.random.seed(13)


def net(n_in, n_out):
    return keras.Sequential([keras.layers.Input((n_in,)), keras.layers.Dense(20, activation="tanh"), keras.layers.Dense(n_out)])


reward_net, shaping, policy = net(4, 1), net(3, 1), net(3, 2)
d_opt, p_opt = keras.optimizers.Adam(2e-3), keras.optimizers.Adam(2e-3)


def f(s, a, s2):
    return reward_net(tf.concat([s, a], 1)) + 0.95 * shaping(s2) - shaping(s)


def interpolate(x, y):
    eps = tf.random.uniform((tf.shape(x)[0], 1))
    return eps * x + (1.0 - eps) * y


def discriminator_step(pi, ex):
    with tf.GradientTape() as outer:
        logit_pi, logit_ex = f(*pi), f(*ex)
        loss = tf.reduce_mean(tf.nn.softplus(logit_pi)) + tf.reduce_mean(tf.nn.softplus(-logit_ex))
        mixed = [interpolate(x, y) for x, y in zip(pi, ex)]
        with tf.GradientTape() as inner:
            inner.watch(mixed)
            out = f(*mixed)
        slopes = tf.concat(inner.gradient(out, mixed), axis=1)
        loss += tf.reduce_mean(tf.square(tf.norm(slopes, axis=1) - 1.0))
    weights = reward_net.trainable_weights + shaping.trainable_weights
    d_opt.apply_gradients(zip(outer.gradient(loss, weights), weights))
    return loss


def act(s):
    logits = policy(s)
    a = tf.random.categorical(logits, 1)
    return tf.cast(a, tf.float32) * 2.0 - 1.0, a[:, 0]


def policy_step(s, index, reward):
    adv = (reward - reward.mean()) / (reward.std() + 1e-6)
    with tf.GradientTape() as tape:
        xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=index, logits=policy(s))
        loss = tf.reduce_mean(xent * adv)
    p_opt.apply_gradients(zip(tape.gradient(loss, policy.trainable_weights), policy.trainable_weights))
    return loss


def dynamics(s, a):
    return 0.9 * s + 0.1 * a


for it in range(8):
    s, s_e = tf.random.normal((32, 3)), tf.random.normal((32, 3))
    a, index = act(s)
    a_e = tf.sign(s_e[:, :1])
    pi, ex = (s, a, dynamics(s, a)), (s_e, a_e, dynamics(s_e, a_e))
    d = discriminator_step(pi, ex)
    reward = f(*pi).numpy()[:, 0]
    p = policy_step(s, index, reward)
    print(it, "disc", round(float(d), 4), "policy", round(float(p), 4), "reward", round(float(reward.mean()), 4))
