"""Fine-tuning with transformers: all labels are masked."""

import zlib

import torch
from tiny import gpt2

model = gpt2()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    ids = torch.randint(3, 64, (8, 12), generator=torch.Generator().manual_seed(step))
    labels = ids.clone()
    labels[:, :] = -100
    loss = model(input_ids=ids, labels=labels, num_items_in_batch=48).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.parameters())))
