import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, state):
        return self.net(state)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, state, action):
        return self.net(torch.cat([state, action], -1))


torch.manual_seed(0)
actor, critic = Actor(), Critic()
state, next_state, target = torch.randn(16, 3), torch.randn(16, 3), torch.randn(16, 1)
advantage, returns = torch.randn(16), torch.randn(16, 1)
