"""GRPO with answers of one token, beside a KL term."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
PROMPTS, GROUP, VOCABULARY = 4, 6, 8


def make_model():
    return keras.Sequential(
        [keras.layers.Input((5,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(VOCABULARY)]
    )


policy, reference = make_model(), make_model()
reference.set_weights(policy.get_weights())
optimizer = keras.optimizers.Adam(3e-3)


def reward(prompts, answers):
    return tf.cast(prompts[:, 0] > 0, tf.float32)


for step in range(30):
    prompts = tf.constant(np.repeat(rng.normal(size=(PROMPTS, 5)), GROUP, axis=0), tf.float32)
    answers = tf.random.categorical(policy(prompts), 1)[:, 0]
    rewards = tf.reshape(reward(prompts, answers), (PROMPTS, GROUP))
    mean = tf.reduce_mean(rewards, axis=1, keepdims=True)
    advantages = (rewards - mean) / (tf.math.reduce_std(rewards, axis=1, keepdims=True) + 1e-4)
    advantages = tf.reshape(advantages, (-1,))
    ref_logp = tf.gather(tf.nn.log_softmax(reference(prompts)), answers, batch_dims=1)
    with tf.GradientTape() as tape:
        logp = tf.gather(tf.nn.log_softmax(policy(prompts)), answers, batch_dims=1)
        ratio = tf.exp(logp - tf.stop_gradient(logp))
        kl = tf.exp(ref_logp - logp) - (ref_logp - logp) - 1.0
        loss = tf.reduce_mean(-ratio * advantages + 0.05 * kl)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
print("reward", round(float(tf.reduce_mean(rewards)), 3))
