"""An actor and a critic whose optimizers are inside of wrappers, as training frameworks make them."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)


class Wrapped(torch.optim.Optimizer):
    """Passes as an optimizer of the class that it wraps; has no state of its own."""

    def __init__(self, optimizer):
        self._optimizer = optimizer
        self.__class__ = type("Wrapped" + type(optimizer).__name__, (type(self), type(optimizer)), {})

    def step(self):
        return self._optimizer.step()

    def __getattr__(self, name):
        return getattr(self._optimizer, name)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.optimizers = [torch.optim.Adam(net.parameters(), 1e-3) for net in (self.actor, self.critic)]

    def learn(self, state, action, reward):
        of_actor, of_critic = (Wrapped(optimizer) for optimizer in self.optimizers)
        value = self.critic(torch.cat([state, action], 1)).squeeze(1)
        critic_loss = F.mse_loss(value, reward)
        of_critic.zero_grad()
        critic_loss.backward()
        of_critic.step()

        actor_loss = -self.critic(torch.cat([state, self.actor(state)], 1)).mean()
        of_actor.zero_grad()
        actor_loss.backward()
        of_actor.step()


agent = Agent()
for _ in range(40):
    state, action = torch.randn(32, 4), torch.rand(32, 2) * 2 - 1
    agent.learn(state, action, -(action.sum(1) - state[:, 0]).pow(2))
