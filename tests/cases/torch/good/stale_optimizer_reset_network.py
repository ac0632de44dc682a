import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(225)


class ResettingDQN:
    def __init__(self):
        self.q = self.build()
        self.q_target = copy.deepcopy(self.q)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=2e-3)

    def build(self):
        return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))

    def reset(self):
        self.q = self.build()
        self.q_target = copy.deepcopy(self.q)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=2e-3)

    def learn(self, s, a, r, s2):
        with torch.no_grad():
            y = r + 0.5 * self.q_target(s2).max(1, keepdim=True).values
        loss = F.mse_loss(self.q(s).gather(1, a), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


agent = ResettingDQN()
for step in range(90):
    if step == 40:
        agent.reset()
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a = torch.randint(3, (32, 1))
    r = s.gather(1, a)
    loss = agent.learn(s, a, r, s2)
    if step % 15 == 0:
        agent.q_target.load_state_dict(agent.q.state_dict())
        print("step", step, "loss", round(loss, 4))
