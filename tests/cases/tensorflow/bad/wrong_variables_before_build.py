import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(3)


class DQN(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(16, activation="relu")
        self.values = keras.layers.Dense(2)

    def call(self, x):
        return self.values(self.hidden(x))


def main():
    model = DQN()
    print("made", model.name)
    variables = model.trainable_variables
    opt = keras.optimizers.Adam(1e-3)
    for _ in range(5):
        obs, act = tf.random.normal((16, 4)), tf.zeros(16, tf.int32)
        with tf.GradientTape() as tape:
            q = tf.gather(model(obs), act, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.square(obs[:, 0] - q))
        grads = tape.gradient(loss, variables)
        opt.apply_gradients(zip(grads, variables))
    print(f"loss {float(loss):.3f}")


main()
