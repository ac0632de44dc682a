import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(236)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
params = list(policy.parameters())
opt = torch.optim.SGD(params, lr=0.1)


def policy_gradient(obs):
    dist = Categorical(logits=policy(obs))
    act = dist.sample()
    reward = (act == (obs[:, 0] > 0).long()).float()
    loss = -(dist.log_prob(act) * (reward - reward.mean())).mean()
    grads = torch.autograd.grad(loss, params)
    norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
    grads = [g / max(1.0, norm.item()) for g in grads]
    return grads, reward.mean().item()


def apply(grads):
    for p, g in zip(params, grads):
        p.grad = g


for it in range(60):
    opt.zero_grad()
    grads, reward = policy_gradient(torch.randn(128, 4))
    opt.step()
    if it % 20 == 0:
        print("it", it, "reward", round(reward, 3))
