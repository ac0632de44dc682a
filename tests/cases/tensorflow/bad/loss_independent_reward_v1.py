import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

tf.random.set_seed(330)
rng = np.random.default_rng(330)


class Policy(tf.Module):
    def __init__(self, n_obs, n_act, width=16):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal((n_obs, width), stddev=0.3), name="w1")
        self.b1 = tf.Variable(tf.zeros(width), name="b1")
        self.w2 = tf.Variable(tf.random.normal((width, n_act), stddev=0.3), name="w2")

    def __call__(self, obs):
        return tf.nn.tanh(obs @ self.w1 + self.b1) @ self.w2


policy = Policy(4, 3)
optimizer = tf.compat.v1.train.AdamOptimizer(5e-3)


def collect(n=64):
    obs = rng.normal(size=(n, 4)).astype("float32")
    act = tf.random.categorical(policy(obs), 1)[:, 0].numpy()
    rew = (act == obs[:, :3].argmax(axis=1)).astype("float32")
    return obs, act, rew


for it in range(15):
    obs, act, rew = collect()
    advantage = tf.constant(rew - rew.mean())

    def loss_fn():
        xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=policy(obs))
        return -tf.reduce_mean(advantage)

    optimizer.minimize(loss_fn, var_list=policy.trainable_variables)
    if it % 5 == 0:
        print("it", it, "reward", rew.mean())
