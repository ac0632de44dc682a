import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(345)


def net(n_out):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(n_out)])


actor, critic = net(3), net(1)
actor_opt, critic_opt = keras.optimizers.Adam(3e-3), keras.optimizers.Adam(3e-3)


def update_critic(obs, ret):
    with tf.GradientTape() as tape:
        value = critic(obs)[:, 0]
        loss = tf.reduce_mean(tf.square(ret - value))
    grads = tape.gradient(loss, critic.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 1.0)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return loss, norm


def update_actor(obs, act, ret):
    advantage = ret - critic(obs)[:, 0]
    with tf.GradientTape() as tape:
        logp = tf.nn.log_softmax(actor(obs))
        loss = -tf.reduce_mean(tf.gather(logp, act, axis=1, batch_dims=1) * advantage)
    grads = tape.gradient(loss, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))
    return loss


for it in range(12):
    obs = np.random.randn(48, 4).astype("float32")
    act = tf.random.categorical(actor(obs), 1).numpy()[:, 0]
    ret = obs[np.arange(48), act]
    lc, norm = update_critic(obs, ret)
    la = update_actor(obs, act, ret)
    print(f"it {it:2d} critic {float(lc):.4f} (norm {float(norm):.3f}) actor {float(la):.4f}")
