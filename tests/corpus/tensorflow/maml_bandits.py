import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

tf.random.set_seed(4)
rng = np.random.default_rng(4)
ARMS, CTX, HIDDEN, INNER_LR = 4, 5, 16, 0.5


def glorot(shape):
    return tf.random.normal(shape, stddev=(2.0 / sum(shape)) ** 0.5)


theta = [
    tf.Variable(glorot((CTX, HIDDEN)), name="w1"),
    tf.Variable(tf.zeros((HIDDEN,)), name="b1"),
    tf.Variable(glorot((HIDDEN, ARMS)), name="w2"),
    tf.Variable(tf.zeros((ARMS,)), name="b2"),
]
meta_opt = tf.keras.optimizers.Adam(1e-2)
accum = [tf.Variable(tf.zeros_like(v), trainable=False) for v in theta]


def policy(x, params):
    w1, b1, w2, b2 = params
    return tf.tanh(x @ w1 + b1) @ w2 + b2


class Task:
    def __init__(self):
        self.w = rng.normal(size=(CTX, ARMS)).astype("float32")

    def play(self, params, n=40):
        x = rng.normal(size=(n, CTX)).astype("float32")
        act = tf.random.categorical(policy(x, params), 1)[:, 0].numpy()
        score = x @ self.w
        reward = (score[np.arange(n), act] > np.median(score, axis=1)).astype("float32")
        return tf.constant(x), tf.constant(act), tf.constant(reward - reward.mean())


def pg_loss(batch, params):
    x, act, adv = batch
    return tf.reduce_mean(adv * tf.nn.sparse_softmax_cross_entropy_with_logits(act, policy(x, params)))


for meta_iter in range(8):
    for a in accum:
        a.assign(tf.zeros_like(a))
    gains = []
    for task in [Task() for _ in range(3)]:
        support = task.play(theta)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                before = pg_loss(support, theta)
            g = inner.gradient(before, theta)
            adapted = [p - INNER_LR * gi for p, gi in zip(theta, g)]
            query = task.play(adapted)
            after = pg_loss(query, adapted)
        for a, gi in zip(accum, outer.gradient(after, theta)):
            a.assign_add(gi / 3.0)
        gains.append(float(before - after))
    meta_opt.apply_gradients(zip([tf.convert_to_tensor(a) for a in accum], theta))
    print("meta iter", meta_iter, "surrogate gain", round(float(np.mean(gains)), 4))

# a new task: plain fine-tuning by hand
task = Task()
fast = [tf.identity(v) for v in theta]
for _ in range(2):
    batch = task.play(fast)
    with tf.GradientTape() as tape:
        tape.watch(fast)
        loss = pg_loss(batch, fast)
    fast = [p - INNER_LR * gi for p, gi in zip(fast, tape.gradient(loss, fast))]
print("fine-tuned", float(loss))
