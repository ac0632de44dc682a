import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(301)
q_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
target_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)

for step in range(60):
    s, s2, a = torch.randn(48, 4), torch.randn(48, 4), torch.randint(0, 3, (48, 1))
    r, done = (s[:, 0] > 0).float(), (torch.rand(48) < 0.1).float()
    with torch.no_grad():
        y = r + 0.99 * (1 - done) * target_net(s2).max(dim=1).values
    y = y.unsqueeze(1)
    q = q_net(s).gather(1, a)
    loss = F.smooth_l1_loss(q, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        target_net.load_state_dict(q_net.state_dict())
        print(step, round(loss.item(), 4))
