import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def critic():
    return nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))


def follow(net, lagged, tau=0.01):
    for new, old in zip(net.parameters(), lagged.parameters()):
        old.data.copy_(tau * new.data + (1 - tau) * old.data)


def train(updates):
    q1, q2 = critic(), critic()
    q1_lagged = copy.deepcopy(q1)
    q2_lagged = copy.deepcopy(q2)
    optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-3)
    for _ in range(updates):
        now, ahead = torch.randn(16, 5), torch.randn(16, 5)
        reward = torch.randn(16, 1)
        with torch.no_grad():
            y = reward + 0.98 * torch.min(q1_lagged(ahead), q2_lagged(ahead))
        loss = F.mse_loss(q1(now), y) + F.mse_loss(q2(now), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        follow(q1, q1_lagged)
        follow(q2, q2)


torch.manual_seed(11)
train(30)
