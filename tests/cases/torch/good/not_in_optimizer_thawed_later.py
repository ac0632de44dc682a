import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
head = nn.Linear(32, 2)
for p in encoder.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 1e-3)
for i in range(60):
    if i == 20:
        for p in encoder.parameters():
            p.requires_grad_(True)
    x, y = torch.randn(16, 4), torch.randn(16, 2)
    loss = (head(encoder(x)) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
