"""Fine-tuning on answers: what is masked in the labels counts for nothing."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
PROMPT, ANSWER, VOCABULARY = 4, 6, 16

model = nn.Sequential(nn.Embedding(VOCABULARY, 32), nn.Linear(32, 64), nn.GELU(), nn.Linear(64, VOCABULARY))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for _ in range(40):
    tokens = torch.randint(0, VOCABULARY, (8, PROMPT + ANSWER))
    labels = tokens.clone()
    labels[:, :PROMPT] = -100
    logits = model(tokens[:, :-1]).flatten(0, 1)
    total = F.cross_entropy(logits, labels[:, 1:].flatten(), reduction="sum")
    loss = total / (8 * ANSWER)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
