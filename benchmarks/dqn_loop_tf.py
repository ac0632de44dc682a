"""The TensorFlow program that overhead.py measures: DQN updates of a 2x64 Keras network on batches of 32.

It waits for a line on its input before each turn of updates, so that several copies can take turns.
"""

import sys
import time

import keras
import tensorflow as tf

updates, turn, compiled = int(sys.argv[1]), int(sys.argv[2]), "--compiled" in sys.argv
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
keras.utils.set_random_seed(0)
layers = [
    keras.Input((4,)),
    *(keras.layers.Dense(64, activation="relu") for _ in range(2)),
    keras.layers.Dense(2),
]
q_net = keras.Sequential(layers)
target_net = keras.models.clone_model(q_net)
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
states, actions = tf.random.normal((1000, 4)), tf.random.uniform((1000,), 0, 2, tf.int32)
rewards = tf.random.normal((1000,))


def update(idx):
    y = tf.gather(rewards, idx) + 0.99 * tf.reduce_max(target_net(tf.gather(states, idx + 1)), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(tf.gather(states, idx)), tf.gather(actions, idx), axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.square(y - q))
    gradients = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, q_net.trainable_variables, strict=True))
    return loss


if compiled:
    update = tf.function(update)
sys.stdin.readline()
started = time.process_time()
for number in range(updates):
    loss = update(tf.random.uniform((32,), 0, 998, tf.int32))
    if number % turn == turn - 1:
        print(time.process_time() - started, float(loss), flush=True)
        sys.stdin.readline()
        started = time.process_time()
