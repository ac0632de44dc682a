import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(307)
LOW, HIGH = -2.0, 2.0


def build_actor():
    s = keras.Input((3,))
    x = keras.layers.Dense(32, activation="relu")(s)
    return keras.Model(s, keras.layers.Dense(1)(x), name="actor")


def build_critic():
    sa = keras.Input((4,))
    x = keras.layers.Dense(32, activation="relu")(sa)
    return keras.Model(sa, keras.layers.Dense(1)(x), name="critic")


actor, critic = build_actor(), build_critic()
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


def learn(s, a, r):
    with tf.GradientTape() as tape:
        critic_loss = tf.reduce_mean((critic(tf.concat([s, a], 1)) - r) ** 2)
    critic_opt.apply_gradients(zip(tape.gradient(critic_loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        action = tf.clip_by_value(actor(s), LOW, HIGH)
        actor_loss = -tf.reduce_mean(critic(tf.concat([s, action], 1)))
    actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))
    return float(critic_loss), float(actor_loss)


for it in range(10):
    s = np.random.randn(32, 3).astype("float32")
    a = np.clip(actor(s) + np.random.normal(0, 0.5, (32, 1)), LOW, HIGH).astype("float32")
    r = -np.square(a - s[:, :1]).astype("float32")
    print(it, learn(s, a, r))
