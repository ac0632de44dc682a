import copy
import torch
import torch.nn as nn
import torch.nn.functional as F


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.v = nn.Linear(32, 1)
        self.a = nn.Linear(32, 3)

    def forward(self, x):
        x = self.body(x)
        v, a = self.v(x), self.a(x)
        return v + a - a.mean(dim=-1, keepdim=True)


def main():
    torch.manual_seed(1)
    q = Dueling()
    t = copy.deepcopy(q)
    opt = torch.optim.Adam(q.parameters(), 1e-3)
    for i in range(60):
        s, s2 = torch.randn(16, 4), torch.randn(16, 4)
        a = torch.randint(3, (16, 1))
        r, d = torch.randn(16), (torch.rand(16) < 0.1).float()
        qa = q(s).gather(1, a).squeeze(1)
        with torch.no_grad():
            target = r + 0.99 * (1 - d) * t(s2).max(1)[0]
        loss = F.mse_loss(qa, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 10 == 0:
            t.load_state_dict(q.state_dict())


main()
