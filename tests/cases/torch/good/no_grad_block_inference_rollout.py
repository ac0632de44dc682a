import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(208)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 32)
        self.logits = nn.Linear(32, 2)

    def forward(self, x):
        return Categorical(logits=self.logits(torch.tanh(self.body(x))))


model = Policy()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)


def rollout(n=64):
    with torch.no_grad():
        obs = torch.randn(n, 4)
        dist = model(obs)
        act = dist.sample()
        rew = (act == (obs.sum(1) > 0).long()).float()
        return obs, act, dist.log_prob(act), rew


for it in range(10):
    obs, act, old_logp, rew = rollout()
    adv = rew - rew.mean()
    for _ in range(3):
        ratio = (model(obs).log_prob(act) - old_logp).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("it", it, "reward", round(rew.mean().item(), 3))
