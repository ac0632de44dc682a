import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(34)


def train(batches=160, accumulate=4):
    q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    opt = torch.optim.Adam(q_net.parameters(), lr=1e-3)
    for number in range(1, batches + 1):
        obs = torch.randn(16, 4)
        act = torch.randint(0, 2, (16, 1))
        ret = obs[:, 0] * (2 * act.squeeze(1) - 1)
        loss = F.mse_loss(q_net(obs).gather(1, act).squeeze(1), ret) / accumulate
        loss.backward()
        if number % accumulate == 0:
            opt.step()
            opt.zero_grad()
        if number % 40 == 0:
            print(number, round(accumulate * loss.item(), 4))


train()
