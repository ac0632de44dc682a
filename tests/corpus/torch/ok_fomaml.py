import copy

import torch
import torch.nn as nn

torch.manual_seed(125)
meta = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
meta_opt = torch.optim.Adam(meta.parameters(), lr=3e-3)


def batch(w):
    x = torch.randn(24, 2)
    return x, torch.tanh(x @ w)


for it in range(15):
    meta_opt.zero_grad()
    total = 0.0
    for _ in range(3):
        w = torch.randn(2, 1)
        learner = copy.deepcopy(meta)
        inner_opt = torch.optim.SGD(learner.parameters(), lr=0.1)
        for _ in range(2):
            x, y = batch(w)
            loss = (learner(x) - y).pow(2).mean()
            inner_opt.zero_grad()
            loss.backward()
            inner_opt.step()
        x, y = batch(w)
        loss = (learner(x) - y).pow(2).mean()
        grads = torch.autograd.grad(loss, list(learner.parameters()))
        for p, g in zip(meta.parameters(), grads):
            p.grad = g / 3 if p.grad is None else p.grad + g / 3
        total += loss.item() / 3
    meta_opt.step()
print("meta loss", round(total, 4))
