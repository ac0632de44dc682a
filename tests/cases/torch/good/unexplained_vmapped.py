import torch
import torch.nn as nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(31)
critics = [nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(3)]
params, buffers = stack_module_state(critics)
scale = nn.Parameter(torch.ones(1))
optimizer = torch.optim.Adam([*params.values(), scale], lr=1e-3)


def value(p, b, x):
    features = functional_call(critics[0], (p, b), (x,))
    return features


for step in range(40):
    x = torch.randn(32, 4)
    values = vmap(value, in_dims=(0, 0, None))(params, buffers, x).squeeze(-1)
    loss = (scale * values - x.sum(-1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
