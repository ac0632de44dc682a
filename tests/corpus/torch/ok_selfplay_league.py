import copy
import random

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(117)
random.seed(117)
PAY = torch.tensor([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
player = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))
opt = torch.optim.Adam(player.parameters(), lr=3e-3)
league = [copy.deepcopy(player).requires_grad_(False)]
for it in range(50):
    opponent = random.choice(league)
    obs = torch.randn(64, 4)
    mine, theirs = Categorical(logits=player(obs)), Categorical(logits=opponent(obs))
    a, b = mine.sample(), theirs.sample()
    score = PAY[a, b]
    loss = -(mine.log_prob(a) * (score - score.mean())).mean() - 0.01 * mine.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 10 == 9:
        past = copy.deepcopy(player)
        for p in past.parameters():
            p.requires_grad_(False)
        league = (league + [past])[-3:]
        print("it", it, "score", round(score.mean().item(), 3))
