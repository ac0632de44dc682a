import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(26)


class Board:
    """Nine cells, some of them taken."""

    def sample(self, n):
        taken = torch.rand(n, 9) < 0.4
        taken[:, 4] = False
        return taken.float(), ~taken


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 9))

    def forward(self, x, legal):
        probs = torch.softmax(self.net(x), dim=-1)
        probs[~legal] = 0.0
        return Categorical(probs=probs / probs.sum(-1, keepdim=True))


board, policy = Board(), Policy()
opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
value = torch.tensor([3.0, 2, 3, 2, 4, 2, 3, 2, 3])
for game in range(40):
    x, legal = board.sample(64)
    dist = policy(x, legal)
    move = dist.sample()
    reward = value[move]
    loss = -(dist.log_prob(move) * (reward - reward.mean())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("reward", round(reward.mean().item(), 3))
