"""A2C with a shared body, an entropy bonus, two optimizers and an LSTM, in a worker thread if asked."""

import sys
import threading

import torch
import torch.nn as nn
from torch.distributions import Categorical, Normal

torch.manual_seed(2)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.LSTM(3, 16, batch_first=True)
        self.choose = nn.Linear(16, 2)
        self.mean = nn.Linear(16, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        hidden, _ = self.memory(x)
        return Categorical(logits=self.choose(hidden)), Normal(self.mean(hidden), self.log_std.exp())


policy = Policy()
critic = nn.ModuleDict({"value": nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))})
policy_optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-3)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2, momentum=0.9)


def train(updates=60):
    for update in range(updates):
        x = torch.randn(8, 5, 3)
        discrete, continuous = policy(x)
        choice, amount = discrete.sample(), continuous.rsample()
        reward = x.sum(-1) * (choice * 2 - 1) - amount.squeeze(-1).pow(2)
        value = critic["value"](x).squeeze(-1)
        advantage = reward - value.detach()
        policy_loss = -(discrete.log_prob(choice) * advantage.detach()).mean()
        policy_loss = policy_loss - advantage.mean() - 0.01 * discrete.entropy().mean()
        policy_optimizer.zero_grad()
        policy_loss.backward()
        policy_optimizer.step()
        critic_loss = (value - reward.detach()).pow(2).mean()
        critic_optimizer.zero_grad(set_to_none=False)
        critic_loss.backward()
        critic_optimizer.step()
        if update % 20 == 0:
            print(update, policy_loss.item(), critic_loss.item())


if "--thread" in sys.argv:
    worker = threading.Thread(target=train)
    worker.start()
    worker.join()
else:
    train()
with open("weights.bin", "wb") as file:
    for parameter in [*policy.parameters(), *critic.parameters()]:
        file.write(parameter.detach().numpy().tobytes())
