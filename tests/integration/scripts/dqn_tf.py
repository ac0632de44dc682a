"""A small DQN in TensorFlow: eager, compiled, or with XLA; weights go to weights.bin."""

import sys

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
online = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(2),
    ]
)
target = keras.models.clone_model(online)
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1e-3, clipnorm=1.0)
traces = 0


def update(s, a, r, s2):
    global traces
    traces += 1
    y = r + 0.9 * tf.reduce_max(target(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(
            online(s + tf.random.normal(s.shape, stddev=0.01), training=True), a, axis=1, batch_dims=1
        )
        loss = tf.reduce_mean(tf.square(y - q))
    gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, online.trainable_variables), 5.0)
    optimizer.apply_gradients(zip(gradients, online.trainable_variables, strict=True))
    return loss


mode = sys.argv[1]
step = {"eager": lambda f: f, "graph": tf.function, "xla": tf.function(jit_compile=True)}[mode](update)
for i in range(50):
    s, s2 = tf.random.normal((16, 4)), tf.random.normal((16, 4))
    a = np.argmax(online(s).numpy() + np.random.gumbel(size=(16, 2)), axis=1)
    loss = step(s, a, tf.cast(a, tf.float32), s2)
    if i % 10 == 9:
        for mine, theirs in zip(target.variables, online.variables, strict=True):
            mine.assign(0.9 * mine + 0.1 * theirs)
        print(i, float(loss))
print("traced", traces if mode != "eager" else 0)
with open("weights.bin", "wb") as file:
    for variable in online.variables:
        file.write(variable.numpy().tobytes())
