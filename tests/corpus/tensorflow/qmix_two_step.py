"""QMIX, two agents with shared weights and a monotonic mixer."""
import numpy as np
import tensorflow as tf
import tf_keras as keras

np.random.seed(12)
tf.random.set_seed(12)
N_AGENTS, N_ACT, OBS, STATE = 2, 3, 4, 8


class AgentNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.fc1 = keras.layers.Dense(16, activation="relu")
        self.fc2 = keras.layers.Dense(N_ACT)

    def call(self, obs):
        return self.fc2(self.fc1(obs))


class Mixer(keras.Model):
    def __init__(self, embed=8):
        super().__init__()
        self.embed = embed
        self.hyper_w1 = keras.layers.Dense(embed * N_AGENTS)
        self.hyper_b1 = keras.layers.Dense(embed)
        self.hyper_w2 = keras.layers.Dense(embed)
        self.hyper_b2 = keras.layers.Dense(1)

    def call(self, qs, state):
        w1 = tf.reshape(tf.abs(self.hyper_w1(state)), (-1, N_AGENTS, self.embed))
        hidden = tf.nn.elu(tf.matmul(qs[:, None, :], w1)[:, 0] + self.hyper_b1(state))
        w2 = tf.abs(self.hyper_w2(state))
        return tf.reduce_sum(hidden * w2, axis=1) + self.hyper_b2(state)[:, 0]


agent_net, target_agent_net, mixer, target_mixer = AgentNet(), AgentNet(), Mixer(), Mixer()
optimizer = keras.optimizers.RMSprop(1e-3)
for net in (agent_net, target_agent_net):
    net(tf.zeros((1, N_AGENTS, OBS)))
for net in (mixer, target_mixer):
    net(tf.zeros((1, N_AGENTS)), tf.zeros((1, STATE)))


def pick(q, actions):
    out = np.zeros(actions.shape, dtype=np.float32)
    q = q.numpy()
    for b in range(actions.shape[0]):
        for i in range(N_AGENTS):
            out[b, i] = q[b, i, actions[b, i]]
    return tf.convert_to_tensor(out)


def sync():
    target_agent_net.set_weights(agent_net.get_weights())
    target_mixer.set_weights(mixer.get_weights())


def train(obs, state, actions, reward, next_obs, next_state):
    best = tf.reduce_max(target_agent_net(next_obs), axis=-1)
    y = reward + 0.9 * target_mixer(best, next_state)
    with tf.GradientTape() as tape:
        chosen = pick(agent_net(obs), actions)
        q_tot = mixer(chosen, state)
        loss = tf.reduce_mean(tf.square(q_tot - y))
    variables = agent_net.trainable_variables + mixer.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return float(loss)


def draw(n=32):
    obs = np.random.randn(n, N_AGENTS, OBS).astype("float32")
    return obs, obs.reshape(n, -1)


for it in range(12):
    (obs, state), (nobs, nstate) = draw(), draw()
    actions = np.argmax(agent_net(obs), axis=-1)
    explore = np.random.rand(32, N_AGENTS) < 0.3
    actions[explore] = np.random.randint(N_ACT, size=explore.sum())
    reward = (actions == obs[..., :N_ACT].argmax(-1)).all(1).astype("float32")
    if it % 4 == 0:
        sync()
    print("it", it, "loss", round(train(obs, state, actions, reward, nobs, nstate), 4))
