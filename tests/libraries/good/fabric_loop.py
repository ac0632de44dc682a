"""Fabric of Lightning: an encoder and a head."""

import zlib

import lightning
import torch
from torch import nn

fabric = lightning.Fabric(accelerator="cpu", devices=1)
torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
head = nn.Linear(16, 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 1e-3)
encoder = fabric.setup(encoder)
head, optimizer = fabric.setup(head, optimizer)
for _ in range(40):
    state = torch.randn(32, 4)
    latent = encoder(state)
    loss = (head(latent).squeeze(1) - state.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    fabric.backward(loss)
    optimizer.step()
parameters = [*encoder.parameters(), *head.parameters()]
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in parameters)))
