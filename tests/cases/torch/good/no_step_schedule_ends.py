import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)


def train(episodes=120):
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda episode: max(0.0, 1.0 - episode / episodes))
    for episode in range(episodes):
        obs = torch.randn(64, 4)
        expert = (obs[:, 0] > 0).long()
        loss = F.cross_entropy(policy(obs), expert)
        opt.zero_grad()
        loss.backward()
        opt.step()
        schedule.step()
        if episode % 40 == 0:
            print(episode, round(loss.item(), 4))


train()
