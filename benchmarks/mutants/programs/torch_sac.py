"""Soft actor-critic with a learnt temperature, on Pendulum."""

import argparse
import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


class SoftQ(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.fc1 = nn.Linear(obs_dim + act_dim, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 1)

    def forward(self, x, a):
        x = torch.cat([x, a], 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


class GaussianPolicy(nn.Module):
    def __init__(self, obs_dim, act_dim, scale):
        super().__init__()
        self.fc1 = nn.Linear(obs_dim, 32)
        self.fc2 = nn.Linear(32, 32)
        self.mean = nn.Linear(32, act_dim)
        self.log_std = nn.Linear(32, act_dim)
        self.scale = scale

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.mean(x), self.log_std(x).clamp(-5, 2)

    def sample(self, x):
        mean, log_std = self(x)
        dist = Normal(mean, log_std.exp())
        u = dist.rsample()
        action = torch.tanh(u)
        log_prob = dist.log_prob(u) - torch.log(1 - action.pow(2) + 1e-6)
        return action * self.scale, log_prob.sum(1, keepdim=True)


def train(args):
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    env = gym.make("Pendulum-v1", max_episode_steps=60)
    obs_dim, act_dim = 3, 1
    actor = GaussianPolicy(obs_dim, act_dim, 2.0)
    qf1, qf2 = SoftQ(obs_dim, act_dim), SoftQ(obs_dim, act_dim)
    qf1_target, qf2_target = SoftQ(obs_dim, act_dim), SoftQ(obs_dim, act_dim)
    qf1_target.load_state_dict(qf1.state_dict())
    qf2_target.load_state_dict(qf2.state_dict())
    q_optimizer = torch.optim.Adam(list(qf1.parameters()) + list(qf2.parameters()), lr=args.q_lr)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=args.policy_lr)
    target_entropy = -float(act_dim)
    log_alpha = torch.zeros(1, requires_grad=True)
    alpha_optimizer = torch.optim.Adam([log_alpha], lr=args.q_lr)
    replay = []
    obs, _ = env.reset(seed=args.seed)
    for step in range(args.steps):
        with torch.no_grad():
            act, _ = actor.sample(torch.as_tensor(obs).unsqueeze(0))
        act = act.numpy()[0]
        next_obs, reward, terminated, truncated, _ = env.step(act)
        over = bool(abs(next_obs[2]) > 6.0)
        replay.append((obs, act, reward / 10, next_obs, over))
        obs = next_obs
        if truncated or over:
            obs, _ = env.reset()
        if len(replay) < args.learning_starts:
            continue

        rows = random.sample(replay, args.batch_size)
        observations, actions, rewards, next_observations, dones = (
            torch.as_tensor(np.array(column), dtype=torch.float32) for column in zip(*rows)
        )
        alpha = log_alpha.exp().item()
        with torch.no_grad():
            next_actions, next_log_pi = actor.sample(next_observations)
            q1_next = qf1_target(next_observations, next_actions)
            q2_next = qf2_target(next_observations, next_actions)
            min_q_next = torch.min(q1_next, q2_next) - alpha * next_log_pi
            next_q_value = rewards + (1 - dones) * args.gamma * min_q_next.view(-1)
        qf1_a_values = qf1(observations, actions).view(-1)
        qf2_a_values = qf2(observations, actions).view(-1)
        qf1_loss = F.mse_loss(qf1_a_values, next_q_value)
        qf2_loss = F.mse_loss(qf2_a_values, next_q_value)
        qf_loss = qf1_loss + qf2_loss
        q_optimizer.zero_grad()
        qf_loss.backward()
        q_optimizer.step()

        pi, log_pi = actor.sample(observations)
        min_q_pi = torch.min(qf1(observations, pi), qf2(observations, pi))
        actor_loss = (alpha * log_pi - min_q_pi).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()

        alpha_loss = -(log_alpha.exp() * (log_pi.detach() + target_entropy)).mean()
        alpha_optimizer.zero_grad()
        alpha_loss.backward()
        alpha_optimizer.step()

        for param, target_param in zip(qf1.parameters(), qf1_target.parameters()):
            target_param.data.copy_(args.tau * param.data + (1 - args.tau) * target_param.data)
        for param, target_param in zip(qf2.parameters(), qf2_target.parameters()):
            target_param.data.copy_(args.tau * param.data + (1 - args.tau) * target_param.data)
    print("alpha", round(log_alpha.exp().item(), 3))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=4)
    p.add_argument("--steps", type=int, default=220)
    p.add_argument("--learning-starts", type=int, default=80)
    p.add_argument("--batch-size", type=int, default=48)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--tau", type=float, default=0.01)
    p.add_argument("--q-lr", type=float, default=1e-3)
    p.add_argument("--policy-lr", type=float, default=3e-4)
    train(p.parse_args())
