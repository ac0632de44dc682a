import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(29)
TEMP, M_ALPHA, GAMMA, BATCH = 0.03, 0.9, 0.97, 32


def build_model(name):
    return keras.Sequential([
        keras.Input((4,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(2),
    ], name=name)


q_net = build_model("q_net")
q_lag = build_model("q_lag")
q_lag.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def soft_targets(s, a, r, s2, d):
    log_pi = tf.nn.log_softmax(q_lag(s) / TEMP)
    bonus = tf.clip_by_value(TEMP * tf.gather(log_pi, a, axis=1, batch_dims=1), -1.0, 0.0)
    q2 = q_lag(s2)
    log_pi2 = tf.nn.log_softmax(q2 / TEMP)
    soft_v = tf.reduce_sum(tf.exp(log_pi2) * (q2 - TEMP * log_pi2), axis=1)
    return r + M_ALPHA * bonus + GAMMA * (1.0 - d) * soft_v


@tf.function
def optimise(s, a, y):
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(s), a, axis=1, batch_dims=1)
        loss = tf.reduce_mean(keras.losses.huber(y[:, None], q[:, None]))
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_lag.trainable_variables))
    return loss


env = gym.make("CartPole-v1")
memory, losses = [], []
state, _ = env.reset(seed=3)
for t in range(1, 201):
    if np.random.rand() < 0.3:
        action = env.action_space.sample()
    else:
        action = int(tf.argmax(q_net(state[None])[0]))
    nxt, reward, done, trunc, _ = env.step(action)
    memory.append((state, action, np.float32(reward), nxt, np.float32(done)))
    state = env.reset()[0] if done or trunc else nxt
    if t > BATCH:
        rows = [memory[i] for i in np.random.randint(len(memory), size=BATCH)]
        s, a, r, s2, d = (np.stack(c) for c in zip(*rows))
        y = soft_targets(s, a, r, s2, d)
        losses.append(float(optimise(s, a, y)))
    if t % 50 == 0:
        q_lag.set_weights(q_net.get_weights())
        print("t", t, "loss", np.mean(losses[-50:]))
