import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.fc1 = nn.Linear(states, 24)
        self.fc1.weight.data.normal_(0, 0.1)
        self.out = nn.Linear(24, actions)
        self.out.weight.data.normal_(0, 0.1)

    def forward(self, x):
        return self.out(F.relu(self.fc1(x)))


class Agent:
    def __init__(self, states, actions, lr):
        self.eval_net = Net(states, actions)
        self.target_net = Net(states, actions)
        self.optimizer = torch.optim.Adam(self.eval_net.parameters(), lr=lr)
        self.updates = 0

    def sync(self):
        if self.updates % 20 == 0:
            for old, new in zip(self.target_net.parameters(), self.eval_net.parameters()):
                old.data.copy_(new.data)

    def learn(self, s, a, r, s2, done):
        self.updates += 1
        q = self.eval_net(s).gather(1, a)
        ahead = self.target_net(s2).detach().max(1, keepdim=True)[0]
        y = r + 0.95 * (1 - done) * ahead
        loss = F.smooth_l1_loss(q, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    torch.manual_seed(7)
    agent = Agent(3, 2, args.lr)
    for _ in range(args.updates):
        done = (torch.rand(16, 1) < 0.1).float()
        agent.learn(torch.randn(16, 3), torch.randint(2, (16, 1)), torch.randn(16, 1), torch.randn(16, 3), done)


if __name__ == "__main__":
    main()
