import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(303)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))

    def forward(self, x):
        return self.layers(x)


class Learner:
    def __init__(self):
        self.online = QNet()
        self.frozen = QNet()
        self.frozen.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def sync(self):
        self.frozen.load_state_dict(self.online.state_dict())

    def update(self, s, a, r, s2):
        with torch.no_grad():
            y = r + 0.97 * self.frozen(s2).max(1)[0]
        loss = F.mse_loss(self.online(s).gather(1, a).squeeze(1), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


learner = Learner()
for step in range(50):
    s = torch.randn(32, 4)
    loss = learner.update(s, torch.randint(0, 3, (32, 1)), s[:, 1], torch.randn(32, 4))
    if step % 10 == 9:
        print(step, round(loss, 4))
