import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras.layers import Dense

keras.utils.set_random_seed(33)
S, A, GAMMA, TAU = 4, 2, 0.95, 0.02


class Actor(keras.Model):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.l3 = Dense(24, "relu"), Dense(24, "relu"), Dense(A, "tanh")

    def call(self, state):
        return self.l3(self.l2(self.l1(state)))


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.l3 = Dense(24, "relu"), Dense(24, "relu"), Dense(1)
        self.l4, self.l5, self.l6 = Dense(24, "relu"), Dense(24, "relu"), Dense(1)

    def call(self, inputs):
        sa = tf.concat(inputs, 1)
        q1 = self.l3(self.l2(self.l1(sa)))
        q2 = self.l6(self.l5(self.l4(sa)))
        return q1, q2


class TD3:
    def __init__(self):
        self.actor, self.actor_target = Actor(), Actor()
        self.critic, self.critic_target = Critic(), Critic()
        for net in (self.actor, self.actor_target):
            net(tf.zeros((1, S)))
        for net in (self.critic, self.critic_target):
            net([tf.zeros((1, S)), tf.zeros((1, A))])
        self.actor_target.set_weights(self.actor.get_weights())
        self.critic_target.set_weights(self.critic.get_weights())
        self.actor_optimizer, self.critic_optimizer = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(3e-3)
        self.total_it = 0

    @tf.function
    def train_critic(self, s, a, r, s2, not_done):
        noise = tf.clip_by_value(0.2 * tf.random.normal(tf.shape(a)), -0.5, 0.5)
        a2 = tf.clip_by_value(self.actor_target(s2) + noise, -1.0, 1.0)
        tq1, tq2 = self.critic_target([s2, a2])
        y = r + not_done * GAMMA * tf.minimum(tq1, tq2)
        with tf.GradientTape() as tape:
            q1, q2 = self.critic([s, a])
            loss = tf.reduce_mean((q1 - y) ** 2) + tf.reduce_mean((q1 - y) ** 2)
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.critic_optimizer.apply_gradients(zip(grads, self.critic.trainable_variables))
        return loss

    @tf.function
    def train_actor(self, s):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic([s, self.actor(s)])[0])
        grads = tape.gradient(loss, self.actor.trainable_variables)
        self.actor_optimizer.apply_gradients(zip(grads, self.actor.trainable_variables))

    def train(self, batch):
        self.total_it += 1
        loss = self.train_critic(*batch)
        if self.total_it % 2 == 0:
            self.train_actor(batch[0])
            for net, tgt in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
                for v, vt in zip(net.variables, tgt.variables):
                    vt.assign(TAU * v + (1 - TAU) * vt)
        return loss


agent = TD3()
for it in range(40):
    s = np.random.randn(32, S).astype("float32")
    a = np.clip(agent.actor(s).numpy() + 0.3 * np.random.randn(32, A), -1, 1).astype("float32")
    r = -np.square(a - 0.5 * s[:, :A]).sum(1, keepdims=True).astype("float32")
    loss = agent.train((s, a, r, (0.9 * s + 0.1).astype("float32"), np.ones((32, 1), "float32")))
    if it % 10 == 0:
        print("it", it, "critic loss", round(float(loss), 4), "reward", round(float(r.mean()), 3))
