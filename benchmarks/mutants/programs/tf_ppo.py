"""PPO with functional Keras models and compiled updates of actor and critic."""

import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf
from keras import layers

CLIP_RATIO = 0.2
ENTROPY = 0.01
STEPS = 96


def discounted(x, rate):
    out, total = np.zeros_like(x), 0.0
    for i in reversed(range(len(x))):
        total = x[i] + rate * total
        out[i] = total
    return out


def mlp(inputs, sizes, output):
    x = inputs
    for size in sizes:
        x = layers.Dense(size, activation="tanh")(x)
    return layers.Dense(output)(x)


observation_input = keras.Input(shape=(4,), dtype="float32")
actor = keras.Model(observation_input, mlp(observation_input, (32, 32), 2))
critic = keras.Model(observation_input, keras.ops.squeeze(mlp(observation_input, (32, 32), 1), axis=1))
policy_optimizer = keras.optimizers.Adam(learning_rate=3e-4)
value_optimizer = keras.optimizers.Adam(learning_rate=1e-3)


def logprobabilities(logits, a):
    logp_all = tf.nn.log_softmax(logits)
    return tf.reduce_sum(tf.one_hot(a, 2) * logp_all, axis=1)


@tf.function
def train_policy(observations, actions, old_logp, advantages):
    with tf.GradientTape() as tape:
        logits = actor(observations)
        logp = logprobabilities(logits, actions)
        ratio = tf.exp(logp - old_logp)
        clipped = tf.clip_by_value(ratio, 1 - CLIP_RATIO, 1 + CLIP_RATIO)
        probs = tf.nn.softmax(logits, axis=-1)
        entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.math.log(probs), axis=1))
        policy_loss = (
            -tf.reduce_mean(tf.minimum(ratio * advantages, clipped * advantages)) - ENTROPY * entropy
        )
    policy_grads = tape.gradient(policy_loss, actor.trainable_variables)
    policy_optimizer.apply_gradients(zip(policy_grads, actor.trainable_variables))


@tf.function
def train_value(observations, returns):
    with tf.GradientTape() as tape:
        values = critic(observations)
        value_loss = tf.reduce_mean(tf.square(returns - values))
    value_grads = tape.gradient(value_loss, critic.trainable_variables)
    value_optimizer.apply_gradients(zip(value_grads, critic.trainable_variables))


def collect(env, observation):
    rows, last = [], 0.0
    for _ in range(STEPS):
        logits = actor(observation[None])
        action = tf.random.categorical(logits, 1)[0, 0]
        logp = logprobabilities(logits, action[None])[0]
        value = critic(observation[None])[0]
        following, reward, terminated, truncated, _ = env.step(int(action))
        done = terminated or truncated
        rows.append((observation, int(action), float(logp), reward, float(value), float(done)))
        observation = env.reset()[0] if done else following
    last = float(critic(observation[None])[0])
    return [np.array(column, np.float32) for column in zip(*rows)], last, observation


def main():
    np.random.seed(3)
    tf.random.set_seed(3)
    env = gym.make("CartPole-v1")
    observation, _ = env.reset(seed=3)
    for epoch in range(3):
        (obs, act, logp, rew, val, done), last, observation = collect(env, observation)
        next_val = np.append(val[1:], last).astype(np.float32)
        deltas = rew + 0.98 * next_val * (1 - done) - val
        adv = discounted(deltas, 0.98 * 0.95)
        ret = adv + val
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(10):
            idx = np.random.permutation(STEPS)[:48]
            observations = tf.constant(obs[idx])
            actions = tf.constant(act[idx].astype(np.int32))
            train_policy(observations, actions, tf.constant(logp[idx]), tf.constant(adv[idx]))
            train_value(observations, tf.constant(ret[idx]))
    print("epochs", epoch + 1)


if __name__ == "__main__":
    main()
