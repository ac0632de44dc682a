import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gymnasium as gym
import numpy as np
import tensorflow as tf
import tf_keras as keras

tf.random.set_seed(36)
np.random.seed(36)
N_ENVS, N_STEPS, GAMMA, ENT, VF = 4, 8, 0.97, 0.01, 0.5


class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = keras.layers.Dense(32, activation="tanh")
        self.logits = keras.layers.Dense(2)
        self.value = keras.layers.Dense(1)

    def call(self, obs):
        h = self.trunk(obs)
        return self.logits(h), self.value(h)


class Runner:
    def __init__(self, model):
        self.model = model
        self.envs = [gym.make("CartPole-v1") for _ in range(N_ENVS)]
        self.obs = np.stack([e.reset(seed=i)[0] for i, e in enumerate(self.envs)])

    def rollout(self):
        obs, acts, rews, dones = [], [], [], []
        for _ in range(N_STEPS):
            logits, _ = self.model(self.obs)
            a = tf.random.categorical(logits, 1)[:, 0].numpy()
            obs.append(self.obs)
            nxt, rew, done = [], [], []
            for env, act in zip(self.envs, a):
                o, r, d, _, _ = env.step(int(act))
                nxt.append(env.reset()[0] if d else o)
                rew.append(0.1 * r)
                done.append(float(d))
            self.obs = np.stack(nxt)
            acts.append(a)
            rews.append(rew)
            dones.append(done)
        last = self.model(self.obs)[1].numpy()[:, 0]
        returns = np.zeros((N_STEPS, N_ENVS), np.float32)
        for t in reversed(range(N_STEPS)):
            last = np.array(rews[t]) + GAMMA * (1.0 - np.array(dones[t])) * last
            returns[t] = last
        return np.concatenate(obs).astype(np.float32), np.concatenate(acts), returns.reshape(-1)


model = Model()
runner = Runner(model)
optimizer = keras.optimizers.RMSprop(7e-3, clipnorm=1.0)
for update in range(12):
    obs, acts, returns = runner.rollout()
    with tf.GradientTape() as tape:
        logits, value = model(obs)
        adv = returns - value
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=acts, logits=logits)
        probs = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(probs * tf.nn.log_softmax(logits), axis=1))
        pg_loss = -tf.reduce_mean(logp * tf.stop_gradient(adv))
        loss = pg_loss + VF * tf.reduce_mean(tf.square(adv)) - ENT * entropy
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if update % 4 == 0:
        print("update", update, "loss", round(float(loss), 4), "entropy", round(float(entropy), 4))
