"""An advantage over a rollout in which episodes end, from plain numbers."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)


def gae(rewards, values, dones, gamma=0.99, lam=0.95):
    adv = np.zeros_like(rewards)
    last = 0.0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * values[t + 1] * (1.0 - dones[t]) - values[t]
        last = delta + gamma * lam * last
        adv[t] = last
    return adv


class Agent:
    def __init__(self):
        self.pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.v = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.opt = torch.optim.Adam([*self.pi.parameters(), *self.v.parameters()], 1e-3)

    def update(self, buf):
        obs = torch.as_tensor(np.array(buf["obs"]), dtype=torch.float32)
        acts = torch.as_tensor(np.array(buf["act"]))
        dones = np.array(buf["done"], dtype=np.float32)
        rewards = np.array(buf["rew"], dtype=np.float32)
        values = np.array(buf["val"], dtype=np.float32)
        adv = gae(rewards, values, dones)
        ret = torch.as_tensor(adv + values[:-1])
        adv = torch.as_tensor(adv)
        dist = torch.distributions.Categorical(logits=self.pi(obs))
        pg = -(dist.log_prob(acts) * adv).mean()
        vl = (self.v(obs).squeeze(-1) - ret).pow(2).mean()
        loss = pg + 0.5 * vl - 0.01 * dist.entropy().mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def main():
    agent = Agent()
    for it in range(20):
        buf = dict(obs=[], act=[], rew=[], done=[], val=[])
        o = rng.normal(size=4).astype(np.float32)
        for t in range(32):
            with torch.no_grad():
                x = torch.as_tensor(o)
                a = torch.distributions.Categorical(logits=agent.pi(x)).sample().item()
                v = agent.v(x).item()
            buf["obs"].append(o)
            buf["act"].append(a)
            buf["rew"].append(float(rng.normal()))
            buf["done"].append(bool(rng.random() < 0.1))
            buf["val"].append(v)
            o = rng.normal(size=4).astype(np.float32)
        with torch.no_grad():
            buf["val"].append(agent.v(torch.as_tensor(o)).item())
        agent.update(buf)


main()
