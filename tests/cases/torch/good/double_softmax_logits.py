import torch
import torch.nn as nn

torch.manual_seed(306)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2), nn.Softmax(dim=-1))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for episode in range(40):
    obs = torch.randn(24, 4)
    dist = torch.distributions.Categorical(probs=policy(obs))
    action = dist.sample()
    reward = (action == (obs[:, 0] > 0).long()).float()
    weight = reward - reward.mean()
    loss = -(dist.log_prob(action) * weight).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
