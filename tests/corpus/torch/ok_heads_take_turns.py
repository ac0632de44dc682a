import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(111)


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(32, n) for n in tasks])

    def forward(self, x, k):
        return self.heads[k](self.body(x))


tasks = [2, 3, 4]
net = MultiTask(tasks)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
schedule = itertools.cycle(range(len(tasks)))
for step in range(45):
    k = next(schedule)
    obs = torch.randn(32, 6)
    loss = F.cross_entropy(net(obs, k), obs[:, : tasks[k]].argmax(1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 15 == 0:
        print("step", step, "task", k, "loss", round(loss.item(), 4))
