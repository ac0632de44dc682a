import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(20)


class RecurrentAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(3, 24)
        self.pi, self.v = nn.Linear(24, 2), nn.Linear(24, 1)
        self.reset()

    def reset(self):
        self.hidden = (torch.zeros(1, 24), torch.zeros(1, 24))

    def forward(self, obs):
        self.hidden = self.lstm(obs.unsqueeze(0), self.hidden)
        h = self.hidden[0]
        return Categorical(logits=self.pi(h)), self.v(h).squeeze()


def n_step(agent, opt, n=5):
    logps, values, rewards = [], [], []
    for _ in range(n):
        obs = torch.randn(3)
        dist, v = agent(obs)
        a = dist.sample()
        logps.append(dist.log_prob(a)[0])
        values.append(v)
        rewards.append(float((obs[0] > 0) == bool(a.item())))
    g, loss = 0.0, 0.0
    for lp, v, r in zip(logps[::-1], values[::-1], rewards[::-1]):
        g = r + 0.9 * g
        loss = loss - lp * (g - v.item()) + 0.5 * (g - v) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


agent = RecurrentAgent()
opt = torch.optim.Adam(agent.parameters(), lr=1e-3)
for episode in range(4):
    agent.reset()
    for _ in range(4):
        loss = n_step(agent, opt)
    print("episode", episode, "loss", round(loss, 4))
