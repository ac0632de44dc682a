import copy

import torch
import torch.nn as nn

torch.manual_seed(17)
policy = nn.Linear(4, 2)
opt = torch.optim.SGD(policy.parameters(), lr=0.05)
SIGMA, POP = 0.1, 16


@torch.no_grad()
def fitness(net):
    obs = torch.randn(64, 4)
    act = net(obs).argmax(1)
    return (act == (obs[:, 0] > obs[:, 1]).long()).float().mean().item()


for gen in range(20):
    noises, scores = [], []
    for _ in range(POP):
        worker = copy.deepcopy(policy)
        eps = [torch.randn_like(p) for p in worker.parameters()]
        for p, e in zip(worker.parameters(), eps):
            p.data.add_(SIGMA * e)
        noises.append(eps)
        scores.append(fitness(worker))
    scores = torch.tensor(scores)
    adv = (scores - scores.mean()) / (scores.std() + 1e-8)
    estimate = [-sum(w * eps[i] for w, eps in zip(adv, noises)) / (POP * SIGMA) for i in range(2)]
    opt.zero_grad()
    for p, g in zip(worker.parameters(), estimate):
        p.grad = g
    opt.step()
    if gen % 5 == 0:
        print("generation", gen, "mean fitness", round(scores.mean().item(), 3))
