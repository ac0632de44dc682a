import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(6)
N_AGENTS, OBS, ACT = 3, 4, 3
NAMES = [f"agent_{i}" for i in range(N_AGENTS)]


def q_net(name):
    return keras.Sequential([keras.Input((OBS,)), keras.layers.Dense(20, activation="relu"),
                             keras.layers.Dense(ACT)], name=name)


class Team:
    def __init__(self):
        self.nets = {n: q_net(n) for n in NAMES}
        self.targets = {n: q_net(n + "_target") for n in NAMES}
        self.hard_update()
        self.opt = keras.optimizers.RMSprop(2e-3)
        self.params = [v for n in NAMES for v in self.nets[n].trainable_variables]

    def hard_update(self):
        for n in NAMES:
            for old, new in zip(self.targets[n].variables, self.nets[n].variables):
                old.assign(new)

    def act(self, obs, eps):
        greedy = [int(tf.argmax(self.nets[n](obs[i][None])[0])) for i, n in enumerate(NAMES)]
        return [np.random.randint(ACT) if np.random.rand() < eps else g for g in greedy]

    @tf.function
    def td_loss(self, obs, acts, rew, obs2, done):
        total, total2 = 0.0, 0.0
        for i, n in enumerate(NAMES):
            q = self.nets[n](obs[:, i])
            total += tf.reduce_sum(q * tf.one_hot(acts[:, i], ACT), axis=1)
            pick = tf.one_hot(tf.argmax(self.nets[n](obs2[:, i]), axis=1), ACT)
            total2 += tf.reduce_sum(self.targets[n](obs2[:, i]) * pick, axis=1)
        y = tf.stop_gradient(rew + 0.9 * (1.0 - done) * total2)
        return tf.reduce_mean(tf.square(y - total))

    def train(self, batch):
        with tf.GradientTape() as tape:
            loss = self.td_loss(*batch)
        grads = tape.gradient(loss, self.params)
        self.opt.apply_gradients(zip(grads, self.params))
        return loss.numpy()


def team_reward(obs, acts):
    return float(sum(a == int(np.argmax(o[:ACT])) for o, a in zip(obs, acts))) / N_AGENTS


team, replay = Team(), []
obs = np.random.randn(N_AGENTS, OBS).astype("float32")
for step in range(90):
    acts = team.act(obs, eps=max(0.1, 1.0 - step / 60))
    rew = team_reward(obs, acts)
    obs2 = np.random.randn(N_AGENTS, OBS).astype("float32")
    replay.append((obs, np.array(acts), np.float32(rew), obs2, np.float32(step % 10 == 9)))
    obs = obs2
    if step >= 30:
        rows = [replay[i] for i in np.random.randint(len(replay), size=16)]
        loss = team.train([tf.constant(np.stack(c)) for c in zip(*rows)])
        if step % 15 == 0:
            team.hard_update()
            print("step", step, "loss %.4f" % loss, "reward %.2f" % np.mean([r[2] for r in replay[-15:]]))
