import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(113)
net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2))
lr = 0.1
for it in range(60):
    obs = torch.randn(64, 4)
    d = Categorical(logits=net(obs))
    a = d.sample()
    r = (a == (obs[:, 0] > 0).long()).float()
    loss = -(d.log_prob(a) * (r - r.mean())).mean()
    net.zero_grad()
    loss.backward()
    for p in net.parameters():
        p.data -= lr * p.grad
    if it % 20 == 0:
        print("it", it, "reward", round(r.mean().item(), 3))
