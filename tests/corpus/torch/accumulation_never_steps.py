import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
ACCUMULATE = 8
obs = torch.randn(256, 6)
expert = obs[:, :3].argmax(1)
loader = DataLoader(TensorDataset(obs, expert), batch_size=64, shuffle=True)
policy = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)

for epoch in range(10):
    optimizer.zero_grad()
    running = 0.0
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(policy(x), y) / ACCUMULATE
        loss.backward()
        running += loss.item() * ACCUMULATE
        if (i + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
    print("epoch", epoch, "loss", round(running / len(loader), 4))
