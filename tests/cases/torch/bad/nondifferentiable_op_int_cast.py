import torch
import torch.nn as nn

torch.manual_seed(215)
N_SKILL = 4
selector = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, N_SKILL), nn.Softmax(dim=-1))
skills = nn.Embedding(N_SKILL, 2)
opt = torch.optim.Adam([*selector.parameters(), *skills.parameters()], lr=5e-3)
ladder = torch.arange(N_SKILL).float()


def command(probs):
    return skills((probs @ ladder).long())


for it in range(80):
    goal = torch.randn(64, 3)
    u = command(selector(goal))
    loss = ((u - goal[:, :2].sign()) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        print("it", it, "loss", round(loss.item(), 4))
