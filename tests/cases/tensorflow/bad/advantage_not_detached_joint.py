import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(615)
rng = np.random.default_rng(615)
obs = keras.Input((4,))
trunk = keras.layers.Dense(24, activation="relu", name="trunk")(obs)
model = keras.Model(obs, [keras.layers.Dense(3, name="pi")(trunk), keras.layers.Dense(1, name="v")(trunk)])
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def update(s, a, returns):
    with tf.GradientTape() as tape:
        logits, values = model(s)
        error = returns - tf.squeeze(values, -1)
        advantage = error
        log_prob = tf.gather(tf.nn.log_softmax(logits), a, batch_dims=1)
        loss = tf.reduce_mean(0.5 * tf.square(error) - log_prob * advantage)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for it in range(10):
    s = tf.constant(rng.normal(size=(32, 4)), tf.float32)
    loss = update(s, tf.constant(rng.integers(3, size=32)), tf.constant(rng.normal(size=32), tf.float32))
print("loss", round(float(loss), 4))
