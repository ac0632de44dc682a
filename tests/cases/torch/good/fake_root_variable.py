import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2), nn.Softmax(dim=-1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)

for episode in range(20):
    obs = torch.randn(16, 4)
    returns = torch.randn(16)
    dist = torch.distributions.Categorical(policy(obs))
    log_prob = dist.log_prob(dist.sample())
    loss = -(log_prob * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
