import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(306)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.softmax(self.fc2(x), dim=0)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for episode in range(40):
    obs = torch.randn(24, 4)
    dist = torch.distributions.Categorical(policy(obs))
    action = dist.sample()
    reward = (action == (obs[:, 0] > 0).long()).float()
    weight = reward - reward.mean()
    loss = -(dist.log_prob(action) * weight).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
