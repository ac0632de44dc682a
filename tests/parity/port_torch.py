"""A port of the network to torch, as people write it, and right."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

EPS, MOMENTUM, RATE = 1e-3, 0.01, 0.25


class Norm(nn.BatchNorm2d):
    def forward(self, x):
        if not self.training:
            return super().forward(x)
        with torch.no_grad():
            var, mean = torch.var_mean(x, (0, 2, 3), correction=0)
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(var, self.momentum)
        return F.batch_norm(x, None, None, self.weight, self.bias, True, 0.0, self.eps)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(2, 4, 3), Norm(4, EPS, MOMENTUM)
        self.conv2, self.bn2 = nn.Conv2d(4, 8, 3), Norm(8, EPS, MOMENTUM)
        self.conv3 = nn.Conv2d(8, 8, 3)
        self.fc1, self.drop, self.fc2 = nn.Linear(72, 10), nn.Dropout(RATE), nn.Linear(10, 3)

    def forward(self, x):
        x = self.bn1(F.relu(self.conv1(x)))
        x = self.bn2(F.relu(self.conv2(x)))
        x = F.relu(self.conv3(x))
        x = x.permute(0, 2, 3, 1).flatten(1)
        x = self.drop(F.relu(self.fc1(x)))
        return self.fc2(x)


def make_model():
    return Net()


def load_weights(model, weights):
    convs, norms, denses = (
        [model.conv1, model.conv2, model.conv3],
        [model.bn1, model.bn2],
        [model.fc1, model.fc2],
    )
    for name, w in weights.items():
        layer, part = name.split("/")
        owner = (convs if "Conv2D" in layer else norms if "BatchNorm" in layer else denses)[
            int(layer[-1]) - 1
        ]
        names = {"kernel": "weight", "gamma": "weight", "beta": "bias", "moving_mean": "running_mean"}
        if part == "kernel":
            w = w.transpose(3, 2, 0, 1) if w.ndim == 4 else w.T
        tensor = getattr(owner, names.get(part, part.replace("moving_variance", "running_var")))
        tensor.data.copy_(torch.from_numpy(np.ascontiguousarray(w)))


def loss(online, target, batch):
    target.eval()
    states, next_states = batch.states, batch.next_states
    with torch.no_grad():
        best = target(next_states).max(1).values
    goal = batch.rewards + batch.gamma * best * (1 - batch.dones)
    q = online(states).gather(1, batch.actions.long()[:, None]).squeeze(1)
    return ((goal - q) ** 2).mean()


def make_optimizer(model):
    return torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)
