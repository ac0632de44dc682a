import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(230)


def critic():
    return nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))


first, second = critic(), critic()
opt1 = torch.optim.SGD(first.parameters(), lr=0.05)
opt2 = torch.optim.SGD(second.parameters(), lr=0.05)

for step in range(60):
    sa = torch.randn(64, 5)
    ret = sa[:, :1] - 0.5 * sa[:, 1:2]
    loss1 = F.mse_loss(first(sa), ret)
    loss2 = F.mse_loss(second(sa), ret)
    grads1 = torch.autograd.grad(loss1, list(first.parameters()), allow_unused=True)
    grads2 = torch.autograd.grad(loss2, list(second.parameters()), allow_unused=True)
    for p, g in zip(first.parameters(), grads1):
        p.grad = g
    for p, g in zip(second.parameters(), grads2):
        p.grad = g
    opt1.step()
    opt2.step()
    if step % 15 == 0:
        print("step", step, "losses", round(loss1.item(), 4), round(loss2.item(), 4))
