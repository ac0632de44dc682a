import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(305)


class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.q_target = copy.deepcopy(self.q)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    def learn(self, s, a, r, s2):
        with torch.no_grad():
            y = r + 0.99 * self.q_target(s2).amax(1)
        q = self.q(s).gather(1, a).squeeze(1)
        loss = F.mse_loss(q, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


agent = Agent()
for step in range(60):
    s = torch.randn(32, 4)
    loss = agent.learn(s, torch.randint(0, 3, (32, 1)), s[:, 0], s + 0.1)
    if step % 20 == 0:
        agent.q_target.load_state_dict(agent.q.state_dict())
        print(step, round(loss, 4))
