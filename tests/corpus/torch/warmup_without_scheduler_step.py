import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(29)
policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
scheduler = LambdaLR(optimizer, lambda step: min(1.0, step / 10))

for step in range(60):
    obs = torch.randn(64, 6)
    best = (obs[:, :4] + 0.5 * obs[:, 4:5]).argmax(dim=1)
    loss = F.cross_entropy(policy(obs), best)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("step", step, "lr", scheduler.get_last_lr()[0], "loss", round(loss.item(), 4))
