"""Soft actor-critic, compiled, on a small point-mass task."""

import argparse

import keras
import numpy as np
import tensorflow as tf


class PointMass:
    """Move to the origin; an episode ends when it is reached or left behind."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.x, self.t = self.rng.uniform(-1, 1, 2).astype(np.float32), 0
        return self.x

    def step(self, action):
        self.x = self.x + 0.2 * np.clip(action, -1, 1).astype(np.float32)
        self.t += 1
        dist = float(np.linalg.norm(self.x))
        return self.x, -dist, dist < 0.15 or dist > 2.5, self.t >= 30


class Critic(keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = keras.layers.Dense(32, activation="relu")
        self.h2 = keras.layers.Dense(32, activation="relu")
        self.q = keras.layers.Dense(1)

    def call(self, obs, act):
        x = tf.concat([obs, act], -1)
        x = self.h2(self.h1(x))
        return tf.squeeze(self.q(x), axis=-1)


class Policy(keras.Model):
    def __init__(self, act_dim):
        super().__init__()
        self.h1 = keras.layers.Dense(32, activation="relu")
        self.h2 = keras.layers.Dense(32, activation="relu")
        self.mean = keras.layers.Dense(act_dim)
        self.log_std = self.add_weight(shape=(act_dim,), initializer="zeros", name="log_std")

    def call(self, obs):
        x = self.h2(self.h1(obs))
        mean = self.mean(x)
        std = tf.exp(tf.clip_by_value(self.log_std, -5.0, 2.0))
        noise = tf.random.normal(tf.shape(mean))
        u = mean + std * noise
        action = tf.tanh(u)
        log_prob = -0.5 * tf.square(noise) - tf.math.log(std) - 0.919
        log_prob = log_prob - tf.math.log(1.0 - tf.square(action) + 1e-6)
        return action, tf.reduce_sum(log_prob, axis=-1)


class SAC:
    def __init__(self, args):
        self.gamma, self.tau, self.alpha = args.gamma, args.tau, args.alpha
        self.policy = Policy(2)
        self.q1, self.q2 = Critic(), Critic()
        self.q1_target, self.q2_target = Critic(), Critic()
        obs, act = tf.zeros((1, 2)), tf.zeros((1, 2))
        self.policy(obs)
        for q in (self.q1, self.q2, self.q1_target, self.q2_target):
            q(obs, act)
        self.q1_target.set_weights(self.q1.get_weights())
        self.q2_target.set_weights(self.q2.get_weights())
        self.q_optimizer = keras.optimizers.Adam(args.lr)
        self.pi_optimizer = keras.optimizers.Adam(args.lr)
        self.q_optimizer.build(self.q1.trainable_variables + self.q2.trainable_variables)
        self.pi_optimizer.build(self.policy.trainable_variables)

    @tf.function
    def learn(self, obs, act, rew, next_obs, done):
        next_act, next_logp = self.policy(next_obs)
        q_next = tf.minimum(self.q1_target(next_obs, next_act), self.q2_target(next_obs, next_act))
        target = rew + self.gamma * (1.0 - done) * (q_next - self.alpha * next_logp)
        with tf.GradientTape() as tape:
            q1_loss = tf.reduce_mean(tf.square(self.q1(obs, act) - target))
            q2_loss = tf.reduce_mean(tf.square(self.q2(obs, act) - target))
            q_loss = q1_loss + q2_loss
        q_vars = self.q1.trainable_variables + self.q2.trainable_variables
        q_grads = tape.gradient(q_loss, q_vars)
        self.q_optimizer.apply_gradients(zip(q_grads, q_vars))
        with tf.GradientTape() as tape:
            new_act, logp = self.policy(obs)
            q_new = tf.minimum(self.q1(obs, new_act), self.q2(obs, new_act))
            pi_loss = tf.reduce_mean(self.alpha * logp - q_new)
        pi_grads = tape.gradient(pi_loss, self.policy.trainable_variables)
        self.pi_optimizer.apply_gradients(zip(pi_grads, self.policy.trainable_variables))
        for net, target_net in ((self.q1, self.q1_target), (self.q2, self.q2_target)):
            for w, tw in zip(net.trainable_variables, target_net.trainable_variables):
                tw.assign((1.0 - self.tau) * tw + self.tau * w)
        return q_loss, pi_loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=220)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--tau", type=float, default=0.02)
    parser.add_argument("--alpha", type=float, default=0.05)
    args = parser.parse_args()
    keras.utils.set_random_seed(4)
    env, agent, memory = PointMass(4), SAC(args), []
    obs = env.reset()
    for step in range(args.steps):
        action = agent.policy(obs[None])[0].numpy()[0]
        next_obs, reward, done, timeout = env.step(action)
        memory.append((obs, action, reward, next_obs, done))
        obs = env.reset() if done or timeout else next_obs
        if len(memory) >= 64:
            rows = [memory[i] for i in np.random.randint(len(memory), size=32)]
            agent.learn(*(tf.constant(np.array(x), tf.float32) for x in zip(*rows)))
    print("steps", step + 1)


if __name__ == "__main__":
    main()
