import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(116)
rng = np.random.default_rng(116)


class RunningMeanStd:
    def __init__(self):
        self.mean, self.var, self.n = 0.0, 1.0, 1e-4

    def __call__(self, x):
        x = np.asarray(x)
        delta, tot = x.mean() - self.mean, self.n + len(x)
        self.mean += delta * len(x) / tot
        self.var = (self.var * self.n + x.var() * len(x) + delta ** 2 * self.n * len(x) / tot) / tot
        self.n = tot
        return x / np.sqrt(self.var + 1e-8)


class AC(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 32)
        self.pi, self.v = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, x):
        h = torch.relu(self.fc(x))
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


net, norm = AC(), RunningMeanStd()
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3, alpha=0.99)
obs = rng.standard_normal(3).astype(np.float32)
for it in range(25):
    logps, vals, rews, ents = [], [], [], []
    for _ in range(8):
        d, v = net(torch.from_numpy(obs))
        a = d.sample()
        rews.append(10.0 * float((obs[0] > 0) == a.item()))
        logps.append(d.log_prob(a))
        vals.append(v)
        ents.append(d.entropy())
        obs = rng.standard_normal(3).astype(np.float32)
    R = net(torch.from_numpy(obs))[1].item()
    rets = []
    for r in norm(rews)[::-1]:
        R = float(r) + 0.9 * R
        rets.insert(0, R)
    rets, vals = torch.tensor(rets), torch.stack(vals)
    adv = np.array([r - v.item() for r, v in zip(rets, vals)], dtype=np.float32)
    adv = torch.from_numpy((adv - adv.mean()) / (adv.std() + 1e-6))
    loss = -(torch.stack(logps) * adv).mean() + 0.5 * (rets - vals).pow(2).mean() - 0.01 * torch.stack(ents).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss", round(loss.item(), 4))
