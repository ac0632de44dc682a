import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def main():
    torch.manual_seed(1)
    q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
    target_net = copy.deepcopy(q_net)
    optimizer = torch.optim.Adam(q_net.parameters(), 1e-3)
    for step in range(60):
        state, next_state = torch.randn(16, 4), torch.randn(16, 4)
        action, reward = torch.randint(3, (16, 1)), torch.randn(16)
        q = q_net(state).gather(1, action).squeeze(1)
        with torch.no_grad():
            target = reward + 0.99 * target_net(next_state).max(1).values
            target = q_net(state).gather(1, action).squeeze(1)
        loss = F.mse_loss(q, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            target_net.load_state_dict(q_net.state_dict())


main()
