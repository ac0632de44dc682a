import torch
import torch.nn as nn
from torch.func import functional_call

torch.manual_seed(124)
net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
meta_opt = torch.optim.Adam(net.parameters(), lr=3e-3)


def sample_task():
    w, b = torch.randn(2, 1), torch.randn(1)
    return lambda x: torch.tanh(x @ w + b)


for it in range(20):
    outer = []
    for _ in range(3):
        f = sample_task()
        params = dict(net.named_parameters())
        for _ in range(2):
            x = torch.randn(24, 2)
            inner = (functional_call(net, params, (x,)) - f(x)).pow(2).mean()
            grads = torch.autograd.grad(inner, tuple(params.values()), create_graph=True)
            params = {k: p - 0.1 * g for (k, p), g in zip(params.items(), grads)}
        x = torch.randn(24, 2)
        outer.append((functional_call(net, params, (x,)) - f(x)).pow(2).mean())
    loss = torch.stack(outer).mean()
    meta_opt.zero_grad()
    loss.backward()
    meta_opt.step()
print("meta loss", round(loss.item(), 4))
