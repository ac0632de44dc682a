import numpy as np
import torch
import torch.nn as nn


class Actor(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, 40), nn.ReLU(), nn.Linear(40, n_act))

    def forward(self, s):
        return self.net(s)


class TwinQ(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(n_obs + n_act, 40), nn.ReLU(), nn.Linear(40, 1))
        self.b = nn.Sequential(nn.Linear(n_obs + n_act, 40), nn.ReLU(), nn.Linear(40, 1))

    def forward(self, s, a):
        x = torch.cat([s, a], dim=1)
        return self.a(x), self.b(x)


def clip_action(a, low=-1.0, high=1.0):
    array = a.detach().cpu().numpy()
    return torch.as_tensor(np.clip(array, low, high))


def soft_update(net, target, tau):
    with torch.no_grad():
        for p, tp in zip(net.parameters(), target.parameters()):
            tp.mul_(1 - tau).add_(p, alpha=tau)
