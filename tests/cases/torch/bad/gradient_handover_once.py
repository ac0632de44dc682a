import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
def hand_over(model, shared):
    for p, sp in zip(model.parameters(), shared.parameters()):
        if sp.grad is None:
            sp._grad = p.grad.clone()
def main():
    shared = make()
    local = make()
    opt = torch.optim.Adam(shared.parameters(), 1e-3)
    for i in range(30):
        local.load_state_dict(shared.state_dict())
        x, a = torch.randn(8, 4), torch.randint(2, (8,))
        loss = F.cross_entropy(local(x), a)
        local.zero_grad()
        loss.backward()
        hand_over(local, shared)
        opt.step()
main()
