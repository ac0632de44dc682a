import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


def make():
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))


shared, local = make(), make()
opt = torch.optim.Adam(shared.parameters(), 1e-3)
for i in range(30):
    local.load_state_dict(shared.state_dict())
    x, a = torch.randn(8, 4), torch.randint(2, (8,))
    loss = F.cross_entropy(local(x), a)
    local.zero_grad()
    opt.zero_grad()
    loss.backward()
    for lp, gp in zip(local.parameters(), shared.parameters()):
        gp.grad = lp.grad.clone()
    opt.step()
