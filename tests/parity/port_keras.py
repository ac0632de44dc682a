"""A port of the network to Keras, as people write it, and right but for the optimizer, which it leaves out."""

import keras
import tensorflow as tf
from keras import layers


def make_model():
    return keras.Sequential([
        keras.Input((9, 9, 2)),
        layers.Conv2D(4, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.Conv2D(8, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.Conv2D(8, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(10, activation="relu"),
        layers.Dropout(0.25),
        layers.Dense(3),
    ])  # fmt: skip


def loss(online, target, batch, training):
    best = tf.reduce_max(target(batch.next_states, training=False), axis=-1)
    goal = tf.stop_gradient(batch.rewards + batch.gamma * best * (1 - batch.dones))
    q = tf.gather(online(batch.states, training=training), batch.actions, batch_dims=1)
    return tf.reduce_mean(tf.square(goal - q))
