"""TD3 on a small point-mass task: twin critics, smoothed target actions, a policy that is updated half as often."""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class PointMass:
    """Move to the origin; an episode ends when it is reached or left behind."""

    def __init__(self, seed=0):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.x = self.rng.uniform(-1, 1, 2).astype(np.float32)
        self.t = 0
        return self.x.copy()

    def step(self, action):
        self.x = self.x + 0.2 * np.clip(action, -1, 1).astype(np.float32)
        self.t += 1
        dist = float(np.linalg.norm(self.x))
        done = dist < 0.15 or dist > 2.5
        return self.x.copy(), -dist, done, self.t >= 30


def mlp(sizes, output=None):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(nn.ReLU())
    if output is not None:
        layers.append(output)
    return nn.Sequential(*layers)


class TwinCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.q1 = mlp([obs_dim + act_dim, 32, 32, 1])
        self.q2 = mlp([obs_dim + act_dim, 32, 32, 1])

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=-1)
        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)


class TD3:
    def __init__(self, obs_dim=2, act_dim=2, lr=1e-3, gamma=0.97, tau=0.01, policy_delay=2):
        self.pi = mlp([obs_dim, 32, 32, act_dim], nn.Tanh())
        self.critic = TwinCritic(obs_dim, act_dim)
        self.pi_target = copy.deepcopy(self.pi)
        self.critic_target = copy.deepcopy(self.critic)
        self.pi_optimizer = optim.Adam(self.pi.parameters(), lr=lr)
        self.q_optimizer = optim.Adam(self.critic.parameters(), lr=lr)
        self.gamma, self.tau, self.policy_delay = gamma, tau, policy_delay
        self.updates = 0

    def act(self, obs, noise):
        with torch.no_grad():
            a = self.pi(torch.as_tensor(obs)).numpy()
        return np.clip(a + noise * np.random.randn(*a.shape), -1, 1).astype(np.float32)

    def update(self, obs, act, rew, obs2, done):
        self.updates += 1
        with torch.no_grad():
            noise = (0.2 * torch.randn_like(act)).clamp(-0.5, 0.5)
            act2 = (self.pi_target(obs2) + noise).clamp(-1, 1)
            q1_next, q2_next = self.critic_target(obs2, act2)
            backup = rew + self.gamma * (1 - done) * torch.min(q1_next, q2_next)
        q1, q2 = self.critic(obs, act)
        loss_q = F.mse_loss(q1, backup) + F.mse_loss(q2, backup)
        self.q_optimizer.zero_grad()
        loss_q.backward()
        torch.nn.utils.clip_grad_norm_(self.critic.parameters(), max_norm=5.0)
        self.q_optimizer.step()

        if self.updates % self.policy_delay == 0:
            action = self.pi(obs)
            q, _ = self.critic(obs, action)
            loss_pi = -q.mean()
            self.pi_optimizer.zero_grad()
            loss_pi.backward()
            self.pi_optimizer.step()
            self.soft_update(self.pi, self.pi_target)
            self.soft_update(self.critic, self.critic_target)

    def soft_update(self, net, target):
        with torch.no_grad():
            for p, p_targ in zip(net.parameters(), target.parameters()):
                p_targ.mul_(1 - self.tau)
                p_targ.add_(self.tau * p)


def main(steps=320, batch_size=32):
    np.random.seed(3)
    torch.manual_seed(3)
    env, agent, data = PointMass(3), TD3(), []
    o = env.reset()
    for t in range(steps):
        a = agent.act(o, noise=0.3)
        o2, r, d, timeout = env.step(a)
        data.append((o, a, r, o2, d))
        o = env.reset() if d or timeout else o2
        if t >= 80:
            rows = [data[i] for i in np.random.randint(len(data), size=batch_size)]
            tensors = [torch.as_tensor(np.array(column), dtype=torch.float32) for column in zip(*rows)]
            agent.update(*tensors)
    print("updates", agent.updates)


if __name__ == "__main__":
    main()
