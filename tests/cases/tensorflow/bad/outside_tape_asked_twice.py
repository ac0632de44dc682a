import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(324)


class Agent:
    def __init__(self):
        self.actor = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
        self.critic = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
        self.actor_opt = keras.optimizers.Adam(2e-3)
        self.critic_opt = keras.optimizers.Adam(5e-3)

    def act(self, obs):
        return tf.random.categorical(self.actor(obs), 1).numpy()[:, 0]

    def learn(self, obs, act, rew, nxt):
        with tf.GradientTape() as tape:
            v, v_next = self.critic(obs)[:, 0], self.critic(nxt)[:, 0]
            td = rew + 0.9 * tf.stop_gradient(v_next) - v
            xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=self.actor(obs))
            actor_loss = tf.reduce_mean(xent * tf.stop_gradient(td))
            critic_loss = tf.reduce_mean(tf.square(td))
        actor_grads = tape.gradient(actor_loss, self.actor.trainable_variables)
        critic_grads = tape.gradient(critic_loss, self.critic.trainable_variables)
        self.actor_opt.apply_gradients(zip(actor_grads, self.actor.trainable_variables))
        self.critic_opt.apply_gradients(zip(critic_grads, self.critic.trainable_variables))
        return float(actor_loss), float(critic_loss)


agent = Agent()
obs = np.random.randn(32, 3).astype("float32")
for it in range(10):
    act = agent.act(obs)
    rew = (act == (obs[:, 0] > 0)).astype("float32")
    nxt = np.random.randn(32, 3).astype("float32")
    losses = agent.learn(obs, act, rew, nxt)
    obs = nxt
    print(it, "reward", rew.mean(), "losses", [round(x, 4) for x in losses])
