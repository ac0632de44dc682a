import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(7)


class Value(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(16, activation="elu")
        self.second = keras.layers.Dense(16, activation="elu")
        self.value = keras.layers.Dense(1)

    def call(self, obs):
        return self.value(self.second(self.first(obs)))


model = Value()
model(tf.zeros((1, 4)))
opt = keras.optimizers.Nadam(1e-2)
best, lowest = model.get_weights(), float("inf")
variables = model.trainable_variables
for _ in range(12):
    obs = tf.random.normal((16, 4))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(obs)[:, 0] - obs[:, 0]))
    grads = tape.gradient(loss, variables)
    opt.apply_gradients(zip(grads, variables))
    if float(loss) < lowest:
        best, lowest = model.get_weights(), float(loss)
model.set_weights(best)
print(f"best {lowest:.3f}")
