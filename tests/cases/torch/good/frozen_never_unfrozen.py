import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(226)
WARMUP = 10


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16), nn.Tanh())
        self.pi = nn.Linear(16, 4)
        self.v = nn.Linear(16, 1)

    def forward(self, x):
        z = self.encoder(x)
        return Categorical(logits=self.pi(z)), self.v(z).squeeze(-1)


net = Net()
net.encoder.requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for it in range(60):
    if it == WARMUP:
        print("warm-up done")
        net.encoder.requires_grad_(True)
    obs = torch.randn(64, 8)
    dist, value = net(obs)
    act = dist.sample()
    reward = (act == obs[:, :4].argmax(1)).float()
    adv = (reward - value).detach()
    loss = -(dist.log_prob(act) * adv).mean() + 0.5 * (reward - value).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 15 == 0:
        print("it", it, "reward", round(reward.mean().item(), 3))
