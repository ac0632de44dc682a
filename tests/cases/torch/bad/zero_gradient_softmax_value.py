"""A value head that ends in a softmax over its only output."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)

class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.v = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, obs):
        return F.softmax(self.pi(obs), dim=-1), F.softmax(self.v(obs), dim=-1)


net = ActorCritic()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(40):
    obs = torch.randn(64, 4)
    probs, value = net(obs)
    action = torch.multinomial(probs.detach(), 1)
    reward = (action == 1).float() + obs[:, :1]
    advantage = (reward - value).detach()
    policy_loss = -(torch.log(probs.gather(1, action)) * advantage).mean()
    loss = policy_loss + 0.5 * F.mse_loss(value, reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 3))
