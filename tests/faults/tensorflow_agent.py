"""A small healthy agent that goes through as many of our doors as it can, eager and compiled, and tells how it ended."""

import sys
import threading
import traceback

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)


def network(outputs):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(outputs)])


critic, target, actor = network(1), network(1), network(2)
target.set_weights(critic.get_weights())
critic_opt = keras.optimizers.Adam(1e-2)
actor_opt = keras.optimizers.SGD(1e-2)


def batch():
    states = random.normal(size=(16, 4)).astype("float32")
    return tf.constant(states), tf.constant(random.normal(size=(16, 1)).astype("float32"))


@tf.function
def update_critic(states, rewards, following):
    goal = rewards + 0.9 * target(following)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((critic(states) - goal) ** 2)
    gradients = tape.gradient(loss, critic.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    critic_opt.apply_gradients(zip(gradients, critic.trainable_variables, strict=True))
    return loss


def update_actor(states, rewards):
    advantage = rewards - critic(states)
    with tf.GradientTape() as tape:
        logits = actor(states)
        with tape.stop_recording():
            actions = tf.argmax(logits, axis=1)
        scores = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        loss = -tf.reduce_mean(scores * tf.squeeze(advantage, 1))
    gradients = tape.gradient(loss, actor.trainable_variables)
    gradients = [tf.clip_by_norm(g, 5.0) for g in gradients]
    actor_opt.apply_gradients(zip(gradients, actor.trainable_variables, strict=True))
    return loss.numpy()


def update(number):
    states, rewards = batch()
    following, _ = batch()
    loss = update_critic(states, rewards, following)
    other = update_actor(states, rewards)
    for slow, fast in zip(target.trainable_variables, critic.trainable_variables, strict=True):
        slow.assign(0.9 * slow + 0.1 * fast)
    return float(loss), float(other), float(critic.predict_on_batch(states.numpy()).mean())


def in_thread():
    print("thread", float(tf.reduce_sum(tf.ones(3))))


def fails():
    raise ValueError("a thread of the user's")


print("first", [[round(x, 5) for x in update(n)] for n in range(6)])
bad = len(sys.argv) > 1
for work in (in_thread, fails) if bad else (in_thread,):
    worker = threading.Thread(target=work, name="worker")
    worker.start()
    worker.join()
try:
    raise LookupError("the user's own")
except LookupError:
    print(traceback.format_exc())
for name, net in (("actor", actor), ("critic", critic), ("target", target)):
    print(name, [float(tf.reduce_sum(v)).hex() for v in net.trainable_variables])
if bad:
    raise KeyError("the user's own")
sys.exit(3)
