import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(233)


def make_policy(width):
    return nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 2))


policy = make_policy(16)
forward = torch.compile(policy, backend="eager")
with torch.no_grad():
    print("first network", forward(torch.zeros(1, 4)).shape)

policy = make_policy(32)
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)

for it in range(30):
    obs = torch.randn(64, 4)
    dist = Categorical(logits=forward(obs))
    act = dist.sample()
    reward = (act == (obs[:, 0] > 0).long()).float()
    loss = -(dist.log_prob(act) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 10 == 0:
        print("it", it, "reward", round(reward.mean().item(), 3))
