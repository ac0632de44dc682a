import copy

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(24)
BEATS = torch.tensor([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def freeze(net):
    for p in net.parameters():
        p.requires_grad_(False)
    return net.eval()


def play(player, opponent, n=64):
    obs = torch.randn(n, 4)
    mine = Categorical(logits=player(obs))
    with torch.no_grad():
        theirs = Categorical(logits=opponent(obs)).sample()
    a = mine.sample()
    return mine.log_prob(a), BEATS[a, theirs]


player = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))
opt = torch.optim.Adam(player.parameters(), lr=5e-3)
league = [freeze(copy.deepcopy(player))]
for it in range(40):
    logp, score = play(player, league[it % len(league)])
    loss = -(logp * (score - score.mean())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 10 == 9:
        league.append(freeze(player))
        print("it", it, "score", round(score.mean().item(), 3), "league", len(league))
