"""DQN in main(): the target network is a local."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def main():
    torch.manual_seed(740)
    q_net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
    target_net = copy.deepcopy(q_net)
    optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
    for step in range(240):
        s, s2 = torch.randn(48, 4), torch.randn(48, 4)
        a, r = torch.randint(0, 3, (48, 1)), (s[:, 0] > 0).float()
        done = (torch.rand(48) < 0.1).float()
        with torch.no_grad():
            ahead = target_net(s2).max(1).values
            y = r + 0.5 * (1 - done) * ahead
        loss = F.mse_loss(q_net(s).gather(1, a).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            target_net = q_net
    print(round(loss.item(), 4))


main()
