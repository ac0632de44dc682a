import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(221)
TASKS = {"reach": 2, "push": 3}


class MultiTaskPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(5, 32), nn.ReLU())
        self.heads = {name: nn.Linear(32, n) for name, n in TASKS.items()}

    def forward(self, obs, task):
        return self.heads[task](self.encoder(obs))


def expert(obs, task):
    return obs[:, : TASKS[task]].argmax(dim=1)


model = MultiTaskPolicy()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
for epoch in range(40):
    loss = 0.0
    for task in TASKS:
        obs = torch.randn(48, 5)
        loss = loss + F.cross_entropy(model(obs, task), expert(obs, task))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print("epoch", epoch, "imitation loss", round(loss.item(), 4))
