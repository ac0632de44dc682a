import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(316)

scorer = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
value = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
value_opt, scorer_opt = keras.optimizers.Adam(5e-3), keras.optimizers.Adam(5e-3)


def attend(entities):
    scores = scorer(entities)[..., 0]
    order = tf.argsort(scores, axis=1, direction="DESCENDING")
    best = tf.gather(entities, order[:, :2], axis=1, batch_dims=1)
    return tf.reduce_sum(best, axis=1)


for it in range(10):
    entities = np.random.randn(32, 5, 3).astype("float32")
    returns = entities[..., 0].max(axis=1)
    with tf.GradientTape(persistent=True) as tape:
        v = value(attend(entities))[:, 0]
        loss = tf.reduce_mean(tf.square(returns - v))
    value_opt.apply_gradients(zip(tape.gradient(loss, value.trainable_variables), value.trainable_variables))
    scorer_opt.apply_gradients(zip(tape.gradient(loss, scorer.trainable_variables), scorer.trainable_variables))
    del tape
    print("it", it, "loss", round(float(loss), 4))
