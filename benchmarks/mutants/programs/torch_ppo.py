"""PPO with a Gaussian policy, separate networks, one optimizer."""

import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal
from torch.optim import Adam


def layer_init(layer, std=np.sqrt(2)):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 32)), nn.Tanh(), layer_init(nn.Linear(32, 1), std=1.0)
        )
        self.actor_mean = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 32)), nn.Tanh(), layer_init(nn.Linear(32, act_dim), std=0.01)
        )
        self.actor_logstd = nn.Parameter(torch.zeros(1, act_dim))

    def get_value(self, x):
        return self.critic(x).squeeze(-1)

    def get_action_and_value(self, x, action=None):
        mean = self.actor_mean(x)
        std = torch.exp(self.actor_logstd.expand_as(mean))
        probs = Normal(mean, std)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(x).squeeze(-1)


def rollout(env, agent, obs, length):
    batch = {key: [] for key in ("obs", "act", "logp", "rew", "done", "val")}
    for _ in range(length):
        with torch.no_grad():
            act, logp, _, val = agent.get_action_and_value(torch.as_tensor(obs).unsqueeze(0))
        next_obs, rew, terminated, truncated, _ = env.step(2.0 * np.tanh(act.numpy()[0]))
        done = terminated or truncated
        row = (torch.as_tensor(obs), act[0], logp[0], rew / 8, float(done), val[0])
        for key, value in zip(batch, row):
            batch[key].append(torch.as_tensor(value, dtype=torch.float32))
        obs = env.reset()[0] if done else next_obs
    return {key: torch.stack(value) for key, value in batch.items()}, obs


def main(args):
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    env = gym.make("Pendulum-v1", max_episode_steps=40)
    agent = Agent(3, 1)
    optimizer = Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    obs, _ = env.reset(seed=args.seed)
    for iteration in range(args.iterations):
        b, obs = rollout(env, agent, obs, args.num_steps)
        with torch.no_grad():
            next_value = agent.get_value(torch.as_tensor(obs).unsqueeze(0))[0]
            advantages = torch.zeros(args.num_steps)
            lastgaelam = 0.0
            for t in reversed(range(args.num_steps)):
                following = next_value if t == args.num_steps - 1 else b["val"][t + 1]
                delta = b["rew"][t] + args.gamma * following * (1.0 - b["done"][t]) - b["val"][t]
                lastgaelam = delta + args.gamma * args.gae_lambda * (1.0 - b["done"][t]) * lastgaelam
                advantages[t] = lastgaelam
            returns = advantages + b["val"]
        for epoch in range(args.epochs):
            for idx in torch.randperm(args.num_steps).split(args.minibatch):
                _, new_logp, entropy, new_value = agent.get_action_and_value(b["obs"][idx], b["act"][idx])
                ratio = torch.exp(new_logp - b["logp"][idx])
                adv = advantages[idx]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                surr1 = ratio * adv
                surr2 = torch.clamp(ratio, 1 - args.clip, 1 + args.clip) * adv
                policy_loss = -torch.min(surr1, surr2).mean()
                value_loss = 0.5 * ((new_value - returns[idx]) ** 2).mean()
                entropy_loss = entropy.mean()
                loss = policy_loss + args.vf_coef * value_loss - args.ent_coef * entropy_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
    print("iterations", iteration + 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--num-steps", type=int, default=128)
    parser.add_argument("--minibatch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--ent-coef", type=float, default=0.01)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    main(parser.parse_args())
