"""accelerate with a loss of the wrong shape."""

import zlib

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.5, 60)
data = DataLoader(TensorDataset(torch.randn(1920, 4)), batch_size=32)
model, optimizer, data, schedule = accelerator.prepare(model, optimizer, data, schedule)
for (state,) in data:
    with accelerator.accumulate(model):
        value = model(state)
        loss = (value - state.sum(1)).pow(2).mean()
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.parameters())))
