import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(90)
POP, CTX, ARMS = 3, 6, 4
TRUE_W = np.random.randn(CTX, ARMS).astype("float32")


def make_policy(units):
    return keras.Sequential([keras.Input((CTX,)), keras.layers.Dense(units, activation="tanh"),
                             keras.layers.Dense(ARMS)])


class Member:
    def __init__(self, index, units, lr):
        self.index, self.units, self.lr = index, units, lr
        self.policy = make_policy(units)
        self.opt = keras.optimizers.SGD(lr)
        self.train = self.compile_step(self.policy, self.opt)
        self.score = 0.0

    def compile_step(self, net, opt):
        @tf.function
        def step(ctx, act, adv):
            with tf.GradientTape() as tape:
                logp = tf.nn.log_softmax(net(ctx))
                chosen = tf.gather(logp, act, axis=1, batch_dims=1)
                loss = -tf.reduce_mean(chosen * adv)
            grads = tape.gradient(loss, net.trainable_variables)
            opt.apply_gradients(zip(grads, net.trainable_variables))
            return loss
        return step

    def exploit(self, winner):
        self.units = winner.units
        self.lr = winner.lr * np.random.choice([0.8, 1.25])
        self.policy = make_policy(self.units)
        self.policy.set_weights(winner.policy.get_weights())
        self.opt = keras.optimizers.SGD(self.lr)
        print("member", self.index, "copies", winner.index)

    def run(self, n=48):
        ctx = np.random.randn(n, CTX).astype("float32")
        act = tf.random.categorical(self.policy(ctx), 1)[:, 0].numpy()
        payoff = ctx @ TRUE_W
        reward = payoff[np.arange(n), act]
        self.train(ctx, act, reward - payoff.mean(axis=1))
        self.score = 0.8 * self.score + 0.2 * float(reward.mean())


members = [Member(i, units, lr) for i, (units, lr) in enumerate([(8, 0.3), (16, 0.1), (24, 0.01)])]
for generation in range(3):
    for _ in range(12):
        for m in members:
            m.run()
    ranked = sorted(members, key=lambda m: m.score)
    if generation < 2:
        ranked[0].exploit(ranked[-1])
    print("generation", generation, [round(m.score, 3) for m in members])
