import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(206)


class Corridor:
    length = 6

    def reset(self):
        self.p, self.t = 0, 0
        return self._obs()

    def _obs(self):
        o = torch.zeros(self.length)
        o[self.p] = 1.0
        return o

    def step(self, a):
        self.p = max(0, self.p + (1 if a == 1 else -1))
        self.t += 1
        goal = self.p == self.length - 1
        return self._obs(), 1.0 if goal else -0.05, goal or self.t >= 20


class Reinforce:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 2))
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=1e-2)

    @torch.no_grad()
    def act(self, obs):
        dist = Categorical(logits=self.policy(obs))
        a = dist.sample()
        return a.item(), dist.log_prob(a)

    def finish(self, logps, rewards):
        g, returns = 0.0, []
        for r in reversed(rewards):
            g = r + 0.95 * g
            returns.append(g)
        returns = torch.tensor(returns[::-1])
        loss = -(torch.stack(logps) * (returns - returns.mean())).sum()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


env, agent = Corridor(), Reinforce()
for ep in range(12):
    obs, done = env.reset(), False
    logps, rewards = [], []
    while not done:
        a, lp = agent.act(obs)
        obs, r, done = env.step(a)
        logps.append(lp)
        rewards.append(r)
    print("episode", ep, "steps", len(rewards), "loss", round(agent.finish(logps, rewards), 3))
