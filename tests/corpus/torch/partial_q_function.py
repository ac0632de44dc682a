import functools

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(28)


def q_values(net, obs):
    return net(obs)


class DQN:
    def __init__(self, n_obs, n_act):
        self.n_obs, self.n_act = n_obs, n_act
        self.net = nn.Linear(n_obs, n_act)
        self.q = functools.partial(q_values, self.net)

    def configure(self, width):
        self.net = nn.Sequential(nn.Linear(self.n_obs, width), nn.ReLU(), nn.Linear(width, self.n_act))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def learn(self, s, a, r):
        loss = F.mse_loss(self.q(s).gather(1, a), r)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


dqn = DQN(4, 3)
dqn.configure(width=64)
for step in range(60):
    s, a = torch.randn(32, 4), torch.randint(3, (32, 1))
    loss = dqn.learn(s, a, (a == s[:, :3].argmax(1, keepdim=True)).float())
print("loss", round(loss, 4))
