import numpy as np
import tensorflow as tf
import tf_keras as keras

np.random.seed(20)
tf.random.set_seed(20)
N_ENVS, CHUNK, N_ACT = 8, 5, 3


class RecurrentActorCritic(keras.Model):
    def __init__(self, units=12):
        super().__init__()
        self.cell = keras.layers.LSTMCell(units)
        self.pi = keras.layers.Dense(N_ACT)
        self.v = keras.layers.Dense(1)

    def call(self, inputs):
        obs, h, c = inputs
        out, (h, c) = self.cell(obs, [h, c])
        return self.pi(out), self.v(out)[:, 0], h, c


class CueEnvs:
    """Shows a cue for one step; the right action is the last cue seen."""

    def __init__(self):
        self.cue = np.random.randint(N_ACT, size=N_ENVS)

    def observe(self):
        show = np.random.rand(N_ENVS) < 0.4
        self.cue = np.where(show, np.random.randint(N_ACT, size=N_ENVS), self.cue)
        obs = np.zeros((N_ENVS, N_ACT + 1), np.float32)
        obs[np.arange(N_ENVS), np.where(show, self.cue, N_ACT)] = 1.0
        return obs

    def reward(self, act):
        return (act == self.cue).astype(np.float32)


model, envs = RecurrentActorCritic(), CueEnvs()
optimizer = keras.optimizers.legacy.Adam(5e-3)
h = c = tf.zeros((N_ENVS, 12))

for update in range(10):
    with tf.GradientTape() as tape:
        logps, values, entropies, rewards = [], [], [], []
        for t in range(CHUNK):
            logits, value, h, c = model((envs.observe(), h, c))
            act = tf.random.categorical(logits, 1)[:, 0].numpy()
            rewards.append(envs.reward(act))
            logp_all = tf.nn.log_softmax(logits)
            logps.append(tf.reduce_sum(logp_all * tf.one_hot(act, N_ACT), axis=1))
            values.append(value)
            entropies.append(-tf.reduce_sum(tf.exp(logp_all) * logp_all, axis=1))
        g, returns = tf.stop_gradient(values[-1]), []
        for r in rewards[::-1]:
            g = r + 0.9 * g
            returns.insert(0, g)
        advantage = tf.stack(returns) - tf.stack(values)
        loss = (-tf.reduce_mean(tf.stack(logps) * tf.stop_gradient(advantage))
                + 0.5 * tf.reduce_mean(tf.square(advantage)) - 0.01 * tf.reduce_mean(tf.stack(entropies)))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    h, c = tf.stop_gradient(h), tf.stop_gradient(c)
    print("update", update, "reward", round(float(np.mean(rewards)), 3), "loss", round(float(loss), 4))
