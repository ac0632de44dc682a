import os
import time
from dataclasses import dataclass

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gymnasium as gym
import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class Args:
    seed: int = 1
    total_timesteps: int = 192
    num_steps: int = 64
    num_minibatches: int = 2
    update_epochs: int = 2
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    learning_rate: float = 2.5e-3


def layer_init(units, std=np.sqrt(2), **kwargs):
    return keras.layers.Dense(units, kernel_initializer=keras.initializers.Orthogonal(gain=std), **kwargs)


class Agent:
    def __init__(self, obs_dim, n_act):
        self.critic = keras.Sequential([keras.Input((obs_dim,)), layer_init(32, activation="tanh"), layer_init(1, std=1.0)])
        self.actor = keras.Sequential([keras.Input((obs_dim,)), layer_init(32, activation="tanh"), layer_init(n_act, std=0.01)])

    @property
    def variables(self):
        return self.actor.trainable_variables + self.critic.trainable_variables

    def get_value(self, x):
        return self.critic(x)[:, 0]

    def get_action_and_value(self, x, action=None):
        logits = self.actor(x)
        if action is None:
            action = tf.random.categorical(logits, 1)[:, 0]
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=logits)
        return action, logp, self.critic(x)[:, 0]


if __name__ == "__main__":
    args = Args()
    keras.utils.set_random_seed(args.seed)
    env = gym.make("CartPole-v1")
    agent = Agent(4, 2)
    optimizer = keras.optimizers.Adam(args.learning_rate, epsilon=1e-5)

    obs = np.zeros((args.num_steps, 4), np.float32)
    actions = np.zeros(args.num_steps, np.int64)
    logprobs, rewards, dones, values = (np.zeros(args.num_steps, np.float32) for _ in range(4))
    next_obs, _ = env.reset(seed=args.seed)
    next_done, start = 0.0, time.time()

    for update in range(args.total_timesteps // args.num_steps):
        for step in range(args.num_steps):
            obs[step], dones[step] = next_obs, next_done
            a, lp, v = agent.get_action_and_value(next_obs[None])
            actions[step], logprobs[step], values[step] = a.numpy()[0], lp.numpy()[0], v.numpy()[0]
            next_obs, rewards[step], term, trunc, _ = env.step(int(actions[step]))
            next_done = float(term or trunc)
            if next_done:
                next_obs, _ = env.reset()

        advantages, lastgaelam = np.zeros_like(rewards), 0.0
        next_value = agent.get_value(next_obs[None]).numpy()[0]
        for t in reversed(range(args.num_steps)):
            nonterminal = 1.0 - (next_done if t == args.num_steps - 1 else dones[t + 1])
            nextv = next_value if t == args.num_steps - 1 else values[t + 1]
            delta = rewards[t] + args.gamma * nextv * nonterminal - values[t]
            advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * nonterminal * lastgaelam
        returns = advantages + values

        b_obs, b_actions, b_logprobs = map(tf.convert_to_tensor, (obs, actions, logprobs))
        b_inds = np.arange(args.num_steps)
        for epoch in range(args.update_epochs):
            np.random.shuffle(b_inds)
            for mb in np.split(b_inds, args.num_minibatches):
                mb_adv = (advantages[mb] - advantages[mb].mean()) / (advantages[mb].std() + 1e-8)
                with tf.GradientTape() as tape:
                    _, newlogprob, newvalue = agent.get_action_and_value(tf.gather(b_obs, mb), tf.gather(b_actions, mb))
                    logratio = tf.gather(b_logprobs, mb) - logprobs[mb]
                    ratio = tf.exp(logratio)
                    pg_loss1 = -mb_adv * ratio
                    pg_loss2 = -mb_adv * tf.clip_by_value(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
                    pg_loss = tf.reduce_mean(tf.maximum(pg_loss1, pg_loss2))
                    v_loss = 0.5 * tf.reduce_mean((newvalue - returns[mb]) ** 2)
                    loss = pg_loss + args.vf_coef * v_loss
                grads = tape.gradient(loss, agent.variables)
                grads, _ = tf.clip_by_global_norm(grads, args.max_grad_norm)
                optimizer.apply_gradients(zip(grads, agent.variables))
        print(f"update={update} v_loss={float(v_loss):.3f} pg_loss={float(pg_loss):.5f} SPS={int(64 / (time.time() - start + 1))}")
