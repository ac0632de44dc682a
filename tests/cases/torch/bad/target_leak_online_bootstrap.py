import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(301)
q_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)


def sample(n=48):
    s, s2 = torch.randn(n, 4), torch.randn(n, 4)
    a = torch.randint(0, 3, (n, 1))
    r = (s[:, 0] > 0).float()
    done = (torch.rand(n) < 0.1).float()
    return s, a, r, s2, done


for step in range(60):
    s, a, r, s2, done = sample()
    best = q_net(s2).max(dim=1).values
    y = r + 0.95 * (1 - done) * best
    q = q_net(s).gather(1, a).squeeze(1)
    loss = F.smooth_l1_loss(q, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
