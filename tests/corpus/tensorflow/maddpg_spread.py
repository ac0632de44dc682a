import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
N_AGENTS, OBS, ACT = 2, 4, 2


def actor_net():
    x = inp = keras.Input((OBS,))
    x = layers.Dense(16, activation="relu")(x)
    return keras.Model(inp, layers.Dense(ACT, activation="tanh")(x))


def critic_net():
    x = inp = keras.Input((N_AGENTS * (OBS + ACT),))
    x = layers.Dense(24, activation="relu")(x)
    return keras.Model(inp, layers.Dense(1)(x))


class Agent:
    def __init__(self, index):
        self.index = index
        self.actor, self.critic = actor_net(), critic_net()
        self.actor_optimizer = keras.optimizers.Adam(1e-3)
        self.critic_optimizer = keras.optimizers.Adam(2e-3)


agents = [Agent(i) for i in range(N_AGENTS)]


def joint(obs, acts):
    return tf.concat(list(obs) + list(acts), axis=1)


def update_critic(agent, obs, acts, rew):
    with tf.GradientTape() as tape:
        q = agent.critic(joint(obs, acts))
        loss = tf.reduce_mean(tf.square(q[:, 0] - rew[:, agent.index]))
    g = tape.gradient(loss, agent.critic.trainable_variables)
    agent.critic_optimizer.apply_gradients(zip(g, agent.critic.trainable_variables))
    return loss


def update_actors(obs, acts):
    losses = []
    for i, agent in enumerate(agents):
        with tf.GradientTape() as tape:
            own = list(acts)
            own[i] = agent.actor(obs[i])
            loss = -tf.reduce_mean(agent.critic(joint(obs, own)))
        g = tape.gradient(loss, agents[0].actor.trainable_variables)
        agent.actor_optimizer.apply_gradients(zip(g, agent.actor.trainable_variables))
        losses.append(float(loss))
    return losses


for it in range(10):
    obs = [np.random.randn(32, OBS).astype("float32") for _ in range(N_AGENTS)]
    acts = [a.actor(o).numpy() + 0.1 * np.random.randn(32, ACT).astype("float32") for a, o in zip(agents, obs)]
    rew = -np.stack([np.abs(a - o[:, :ACT]).sum(1) for a, o in zip(acts, obs)], 1)
    lc = [float(update_critic(a, obs, acts, rew)) for a in agents]
    la = update_actors(obs, acts)
    print(it, lc, la)
