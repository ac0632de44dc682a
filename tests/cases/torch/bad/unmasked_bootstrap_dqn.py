import argparse
import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, n_out))

    def forward(self, x):
        return self.net(x)


class Agent:
    def __init__(self, gamma=0.99, tau=0.01):
        self.q = Net(4, 2)
        self.q_target = Net(4, 2)
        self.q_target.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.gamma, self.tau = gamma, tau
        self.memory = deque(maxlen=1000)
        self.steps = 0

    def act(self, s):
        with torch.no_grad():
            return int(self.q(torch.as_tensor(s).unsqueeze(0)).argmax())

    def sync(self):
        self.q_target.load_state_dict(self.q.state_dict())

    def learn(self):
        batch = random.sample(self.memory, 16)
        s, a, r, s2, d = (torch.as_tensor(np.array(x)) for x in zip(*batch))
        with torch.no_grad():
            best = self.q_target(s2).max(1)[0]
            target = r + self.gamma * best
        q = self.q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = F.mse_loss(q, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.steps += 1
        if self.steps % 10 == 0:
            self.sync()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    agent = Agent()
    for t in range(args.steps):
        s, s2 = rng.normal(size=(2, 4)).astype("float32")
        agent.memory.append((s, agent.act(s), np.float32(rng.normal()), s2, np.float32(rng.random() < 0.1)))
        if len(agent.memory) > 20:
            agent.learn()


if __name__ == "__main__":
    main()
