"""A network that its rollout made fast."""

import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 32)
        self.value = nn.Linear(32, 1)

    def forward(self, state):
        return self.value(torch.relu(self.hidden(state))).squeeze(1)


def main():
    torch.manual_seed(0)
    critic = Critic()
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    for _ in range(8):
        state = torch.randn(32, 4)
        loss = F.mse_loss(critic(state), state.sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
