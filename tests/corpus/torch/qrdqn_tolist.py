import torch
import torch.nn as nn

torch.manual_seed(35)
N_ACT, N_Q = 3, 8
taus = (torch.arange(N_Q).float() + 0.5) / N_Q


class QRNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, N_ACT * N_Q))

    def forward(self, s):
        return self.net(s).view(-1, N_ACT, N_Q)


def quantile_loss(pred, target):
    u = target.unsqueeze(1) - pred.unsqueeze(2)
    huber = torch.where(u.abs() < 1, 0.5 * u ** 2, u.abs() - 0.5)
    return ((taus.view(1, -1, 1) - (u.detach() < 0).float()).abs() * huber).mean()


def chosen(q, a):
    rows = [q[i, int(k)].tolist() for i, k in enumerate(a)]
    return torch.tensor(rows)


net, target = QRNet(), QRNet()
target.load_state_dict(net.state_dict())
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(30):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a = torch.randint(N_ACT, (32,))
    r = (a == s[:, :N_ACT].argmax(1)).float()
    with torch.no_grad():
        nxt = target(s2)
        best = nxt.mean(2).argmax(1)
        y = r[:, None] + 0.9 * nxt[torch.arange(32), best]
    loss = quantile_loss(chosen(net(s), a), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        target.load_state_dict(net.state_dict())
print("loss", round(loss.item(), 4))
