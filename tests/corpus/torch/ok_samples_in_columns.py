"""A layer that is written for column vectors: the actions are in the first dimension, the batch in the second."""

import torch
from torch import nn

torch.manual_seed(3)


class Columns(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / inputs**0.5)
        self.bias = nn.Parameter(torch.zeros(outputs, 1))

    def forward(self, x):
        return self.weight @ x + self.bias


policy = nn.Sequential(Columns(5, 32), nn.Tanh(), Columns(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(40):
    x = torch.randn(5, 64)
    log_probs = policy(x).log_softmax(dim=0)
    arms = torch.multinomial(log_probs.detach().exp().T, 1).T
    reward = (arms.squeeze(0) == x[:4].argmax(0)).float()
    loss = -(log_probs.gather(0, arms).squeeze(0) * (reward - 0.25)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"reward {reward.mean():.2f}")
