import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(21)
DT, HORIZON = 0.2, 4


def real_step(x, u):
    pos, vel = x[:, :1], x[:, 1:]
    vel2 = vel + DT * (u - 0.5 * np.sin(pos))
    return np.concatenate([pos + DT * vel2, vel2], axis=1).astype("float32")


def tower(n_in, n_out, act=None):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(20, activation="tanh"),
                             keras.layers.Dense(n_out, activation=act)])


ensemble = [tower(3, 2) for _ in range(2)]
model_opts = [keras.optimizers.Adam(1e-2) for _ in ensemble]
policy = tower(2, 1, "tanh")
policy_opt = keras.optimizers.Adam(1e-2, global_clipnorm=5.0)


def make_model_step(net, opt):
    @tf.function
    def fit_model(x, u, x2):
        with tf.GradientTape() as tape:
            delta = net(tf.concat([x, u], 1))
            loss = tf.reduce_mean(tf.square(delta - (x2 - x)))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return loss
    return fit_model


model_steps = [make_model_step(n, o) for n, o in zip(ensemble, model_opts)]


@tf.function(reduce_retracing=True)
def improve_policy(x):
    with tf.GradientTape() as tape:
        cost = 0.0
        for t in range(HORIZON):
            u = policy(x)
            cost += 0.9 ** t * tf.reduce_mean(tf.reduce_sum(x ** 2, 1) + 0.05 * tf.reduce_sum(u ** 2, 1))
            deltas = tf.stack([net(tf.concat([x, u], 1)) for net in ensemble])
            x = x + tf.reduce_mean(deltas, axis=0)
        cost += tf.reduce_mean(tf.reduce_sum(x ** 2, 1))
    grads = tape.gradient(cost, policy.trainable_variables)
    policy_opt.apply_gradients(zip(grads, policy.trainable_variables))
    return cost


xs, us, nexts = [], [], []
for epoch in range(5):
    x = np.random.uniform(-1, 1, (48, 2)).astype("float32")
    for t in range(4):
        u = np.clip(policy(x).numpy() + 0.3 * np.random.randn(len(x), 1), -1, 1).astype("float32")
        x2 = real_step(x, u)
        xs.append(x), us.append(u), nexts.append(x2)
        x = x2
    data = [np.concatenate(d) for d in (xs, us, nexts)]
    for _ in range(10):
        for step in model_steps:
            idx = np.random.randint(len(data[0]), size=64)
            model_loss = step(*(tf.constant(d[idx]) for d in data))
    for _ in range(6):
        idx = np.random.randint(len(data[0]), size=64)
        cost = improve_policy(tf.constant(data[0][idx]))
    print("epoch", epoch, "model loss", round(float(model_loss), 5), "imagined cost", round(float(cost), 3))
