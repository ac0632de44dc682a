"""REINFORCE with LoRA factors of our own, and what they begin at."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


class Lora(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(0.1 * torch.randn(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        update = x @ self.down.T
        return self.base(x) + update @ self.up.T


policy = nn.Sequential(Lora(nn.Linear(4, 32)), nn.Tanh(), Lora(nn.Linear(32, 3)))
adapters = [p for p in policy.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(adapters, lr=1e-2)

for _ in range(40):
    state = torch.randn(64, 4)
    logp = F.log_softmax(policy(state), dim=-1)
    action = torch.multinomial(logp.detach().exp(), 1)
    reward = (action.squeeze(1) == (state[:, 0] > 0).long()).float()
    advantage = reward - reward.mean()
    loss = -(logp.gather(1, action).squeeze(1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
