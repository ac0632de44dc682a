"""Batch normalisation and dropout in a model of its own: in training where it is trained, not in its targets."""

import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(61)


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(32, activation="relu")
        self.norm = keras.layers.BatchNormalization()
        self.drop = keras.layers.Dropout(0.1)
        self.last = keras.layers.Dense(1)

    def call(self, x, training=False):
        x = self.norm(self.first(x), training=training)
        return tf.squeeze(self.last(self.drop(x, training=training)), 1)


def main(updates=60, gamma=0.99):
    critic, target = Critic(), Critic()
    critic(tf.zeros((1, 4)))
    target(tf.zeros((1, 4)))
    target.set_weights(critic.get_weights())
    optimizer = keras.optimizers.Adam(1e-3)

    @tf.function
    def update(obs, reward, following, done):
        goal = reward + gamma * (1 - done) * target(following, training=False)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((critic(obs, training=True) - goal) ** 2)
        grads = tape.gradient(loss, critic.trainable_variables)
        optimizer.apply_gradients(zip(grads, critic.trainable_variables))
        return loss

    for number in range(updates):
        obs, following = tf.random.normal((32, 4)), tf.random.normal((32, 4))
        done = tf.cast(tf.random.uniform((32,)) < 0.1, tf.float32)
        loss = update(obs, obs[:, 0], following, done)
        if number % 20 == 0:
            target.set_weights(critic.get_weights())
            print(number, float(loss), float(tf.reduce_mean(critic(obs))))


main()
