import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(6)


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(16, activation="relu", trainable=False)
        self.second = keras.layers.Dense(16, activation="relu")
        self.value = keras.layers.Dense(1)

    def call(self, obs):
        return tf.squeeze(self.value(self.second(self.first(obs))), axis=1)


def main():
    critic = Critic()
    opt = keras.optimizers.Adam(1e-3)
    for _ in range(8):
        obs = tf.random.normal((16, 4))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(obs[:, 0] - critic(obs)))
        grads = tape.gradient(loss, critic.trainable_variables)
        opt.apply_gradients(zip(grads, critic.trainable_variables))
    print(f"loss {float(loss):.3f}")


main()
