import torch
import torch.nn as nn
from torch.func import functional_call

torch.manual_seed(21)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = {name: p.detach().clone() for name, p in q.named_parameters()}
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)


def sync(tau):
    for name, p in q.named_parameters():
        target[name].lerp_(p.detach(), tau)


for step in range(60):
    s, a, r, s2 = torch.randn(32, 4), torch.randint(0, 2, (32, 1)), torch.randn(32), torch.randn(32, 4)
    with torch.no_grad():
        y = r + 0.9 * functional_call(q, target, (s2,)).max(1).values
    loss = (q(s).gather(1, a).squeeze(1) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, round(loss.item(), 4))
