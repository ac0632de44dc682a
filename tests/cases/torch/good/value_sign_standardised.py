import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(306)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=3e-3)
for update in range(40):
    obs = torch.randn(24, 4)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    reward = torch.tensor([float(a == (o[0] > 0)) for a, o in zip(action.tolist(), obs.tolist())])
    value = critic(obs).squeeze(-1)
    advantage = (reward - value).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    policy_loss = -(dist.log_prob(action) * advantage).mean()
    loss = policy_loss + 0.5 * (reward - value).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 3))
