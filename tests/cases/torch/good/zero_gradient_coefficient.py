"""An agent whose policy loss is weighted by a coefficient that was given to it long before."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Agent:
    def __init__(self, policy_coefficient):
        self.policy_coefficient = policy_coefficient
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        parameters = [*self.policy.parameters(), *self.value.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=1e-3)

    def update(self, state, action, returns):
        value = self.value(state).squeeze(1)
        log_prob = Categorical(logits=self.policy(state)).log_prob(action)
        policy_loss = -(log_prob * (returns - value.detach())).mean()
        value_loss = nn.functional.mse_loss(value, returns)
        loss = self.policy_coefficient * policy_loss + value_loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent(policy_coefficient=0.5)
for update in range(12):
    agent.update(torch.randn(32, 4), torch.randint(2, (32,)), torch.randn(32))
