import copy
from collections import deque

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(102)
np.random.seed(102)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.a_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.c_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.memory = deque(maxlen=1000)
        self.log = []

    def get_action(self, state, noise=0.3):
        a = self.actor(torch.from_numpy(state).float().unsqueeze(0))
        a = a.detach().numpy()[0]
        return np.clip(a + noise * np.random.randn(1), -1, 1)

    def update(self, n=32):
        idx = np.random.randint(len(self.memory), size=n)
        s, a, r, s2 = (torch.FloatTensor(np.array(x)) for x in zip(*[self.memory[i] for i in idx]))
        Qvals = self.critic(torch.cat([s, a], 1))
        next_actions = self.actor_target(s2)
        next_Q = self.critic_target(torch.cat([s2, next_actions.detach()], 1)).detach()
        Qprime = r.unsqueeze(1) + 0.95 * next_Q
        critic_loss = nn.MSELoss()(Qvals, Qprime)
        self.c_opt.zero_grad()
        critic_loss.backward()
        self.c_opt.step()

        policy_loss = -self.critic(torch.cat([s, self.actor(s)], 1)).mean()
        self.a_opt.zero_grad()
        policy_loss.backward()
        self.a_opt.step()
        self.log.append((critic_loss.detach().cpu().numpy(), policy_loss.data))
        for t, n_ in ((self.actor_target, self.actor), (self.critic_target, self.critic)):
            for tp, p in zip(t.parameters(), n_.parameters()):
                tp.data.copy_(p.data * 0.01 + tp.data * 0.99)


agent = Agent()
s = np.random.randn(3)
for t in range(100):
    a = agent.get_action(s)
    s2 = np.clip(s + 0.2 * np.append(a, [0, 0]), -2, 2)
    agent.memory.append((s, a, -float((s2 ** 2).sum()), s2))
    s = s2 if t % 15 else np.random.randn(3)
    if len(agent.memory) > 40:
        agent.update()
print("critic", round(float(agent.log[-1][0]), 4))
