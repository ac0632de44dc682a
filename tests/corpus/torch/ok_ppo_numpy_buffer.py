import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(101)
rng = np.random.default_rng(101)


class Line:
    def reset(self):
        self.x, self.t = rng.integers(-3, 4), 0
        return np.array([self.x / 3, 1.0, self.t / 15], dtype=np.float32)

    def step(self, a):
        self.x += a - 1
        self.t += 1
        return np.array([self.x / 3, 1.0, self.t / 15], dtype=np.float32), -abs(self.x) / 3, self.t >= 15


class Buffer:
    def __init__(self):
        self.clear()

    def clear(self):
        self.data = {k: [] for k in ("obs", "act", "logp", "val", "rew", "done")}

    def add(self, **kw):
        for k, v in kw.items():
            self.data[k].append(v)

    def gae(self, gamma=0.97, lam=0.9):
        adv, last, nxt = [], 0.0, 0.0
        for r, v, d in zip(self.data["rew"][::-1], self.data["val"][::-1], self.data["done"][::-1]):
            delta = r + gamma * nxt * (1 - d) - v
            last = delta + gamma * lam * (1 - d) * last
            adv.insert(0, last)
            nxt = v
        return np.array(adv, dtype=np.float32)


actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([{"params": actor.parameters(), "lr": 1e-3}, {"params": critic.parameters(), "lr": 3e-3}])
env, buf = Line(), Buffer()
for it in range(4):
    buf.clear()
    obs = env.reset()
    for _ in range(60):
        x = torch.from_numpy(obs)
        dist = Categorical(logits=actor(x))
        a = dist.sample()
        nxt, r, done = env.step(a.item())
        buf.add(obs=obs, act=a.item(), logp=dist.log_prob(a).item(), val=critic(x).item(), rew=r, done=float(done))
        obs = env.reset() if done else nxt
    adv = buf.gae()
    ret = torch.from_numpy(adv + np.array(buf.data["val"], dtype=np.float32))
    adv = torch.from_numpy((adv - adv.mean()) / (adv.std() + 1e-8))
    O, A = torch.tensor(np.array(buf.data["obs"])), torch.tensor(buf.data["act"])
    old = torch.tensor(buf.data["logp"])
    for _ in range(3):
        for idx in torch.randperm(60).split(20):
            dist = Categorical(logits=actor(O[idx]))
            ratio = torch.exp(dist.log_prob(A[idx]) - old[idx])
            pg = -torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
            vf = (critic(O[idx]).squeeze(-1) - ret[idx]).pow(2).mean()
            loss = pg + 0.5 * vf - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("it", it, "reward", round(float(np.mean(buf.data["rew"])), 3))
