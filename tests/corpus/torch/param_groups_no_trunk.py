import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(34)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(5, 32)
        self.norm = nn.LayerNorm(32)
        self.heads = nn.ModuleDict({"pi": nn.Linear(32, 3), "v": nn.Linear(32, 1)})

    def forward(self, x):
        h = torch.relu(self.norm(self.trunk(x)))
        return Categorical(logits=self.heads["pi"](h)), self.heads["v"](h).squeeze(-1)


net = Net()
groups = [
    {"params": net.heads["pi"].parameters(), "lr": 1e-3},
    {"params": net.heads["v"].parameters(), "lr": 3e-3},
]
optimizer = torch.optim.Adam(groups)
for it in range(50):
    obs = torch.randn(64, 5)
    dist, v = net(obs)
    a = dist.sample()
    r = (a == obs[:, :3].argmax(1)).float()
    loss = -(dist.log_prob(a) * (r - v).detach()).mean() + 0.5 * (r - v).pow(2).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", round(r.mean().item(), 3))
