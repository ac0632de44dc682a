import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)


def batch(size=32):
    done = (torch.rand(size) < 0.2).float()
    return torch.randn(size, 4), torch.randint(0, 2, (size,)), torch.randn(size), torch.randn(size, 4), done


def train(steps=120, gamma=0.99):
    q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    target_net = copy.deepcopy(q_net)
    opt = torch.optim.Adam(q_net.parameters(), lr=1e-3)
    for step in range(steps):
        obs, act, rew, nxt, done = batch()
        with torch.no_grad():
            best = target_net(nxt).argmax(1, keepdim=True)
            value = q_net(nxt).gather(1, best).squeeze(1)
            target = rew + gamma * (1 - done) * value
        chosen = q_net(obs).gather(1, act.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(chosen, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            target_net.load_state_dict(q_net.state_dict())
            print(step, round(loss.item(), 4))


train()
