"""A critic on raw observations in the thousands, with a bias that was set far below zero."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)

class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 32)
        self.value = nn.Linear(32, 1)
        nn.init.constant_(self.hidden.bias, -100.0)

    def forward(self, obs):
        return self.value(F.relu(self.hidden(obs)))


critic = Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(40):
    obs = torch.randn(64, 3)
    returns = obs.sum(1, keepdim=True)
    loss = F.mse_loss(critic(obs), returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 3))
