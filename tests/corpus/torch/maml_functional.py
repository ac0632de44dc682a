import torch
import torch.nn as nn
from torch.func import functional_call

torch.manual_seed(12)
policy = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
meta_opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
INNER_LR = 0.05


def task():
    w = torch.randn(3, 1)

    def batch(n=32):
        x = torch.randn(n, 3)
        return x, torch.tanh(x @ w)

    return batch


def imitation(params, data):
    x, y = data
    return ((functional_call(policy, params, (x,)) - y) ** 2).mean()


for it in range(25):
    meta_loss = 0.0
    for _ in range(4):
        batch = task()
        fast = {k: v.detach().clone().requires_grad_(True) for k, v in policy.named_parameters()}
        for _ in range(2):
            inner = imitation(fast, batch())
            grads = torch.autograd.grad(inner, list(fast.values()), create_graph=True)
            fast = {k: v - INNER_LR * g for (k, v), g in zip(fast.items(), grads)}
        meta_loss = meta_loss + imitation(fast, batch()) / 4
    meta_opt.zero_grad()
    meta_loss.backward()
    meta_opt.step()
print("meta loss", round(meta_loss.item(), 4))
