import torch
import torch.nn as nn

torch.manual_seed(238)


class Actor(nn.Module):
    def __init__(self, bound=2.0):
        super().__init__()
        self.bound = bound
        self.l1 = nn.Linear(3, 32)
        self.l2 = nn.Linear(32, 1)

    def forward(self, s):
        a = torch.tanh(self.l2(torch.relu(self.l1(s))))
        a *= self.bound
        return a


def dynamics(s, a):
    th, om, goal = s.unbind(-1)
    om = om + 0.1 * a.squeeze(-1)
    return torch.stack([th + 0.1 * om, om, goal], dim=-1)


actor = Actor()
opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
for it in range(30):
    s = torch.randn(64, 3)
    cost = 0.0
    for _ in range(5):
        s = dynamics(s, actor(s))
        cost = cost + ((s[:, 0] - s[:, 2]) ** 2).mean()
    opt.zero_grad()
    cost.backward()
    opt.step()
    if it % 10 == 0:
        print("it", it, "cost", round(cost.item(), 4))
