import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(229)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))

    def forward(self, x):
        return Categorical(logits=self.layers(x))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


actor, critic = Actor(), Critic()
actor_optim = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optim = torch.optim.Adam(critic.parameters(), lr=3e-3)

for it in range(60):
    obs = torch.randn(64, 4)
    dist = actor(obs)
    act = dist.sample()
    reward = obs.gather(1, act.unsqueeze(1)).squeeze(1)
    value = critic(obs)

    critic_loss = F.mse_loss(value, reward)
    critic_optim.zero_grad()
    critic_loss.backward()
    critic_optim.step()

    actor_loss = -(dist.log_prob(act) * (reward - value.detach())).mean()
    actor_optim.zero_grad()
    actor_loss.backward()
    actor_optim.step()
    if it % 20 == 0:
        print("it", it, "critic loss", round(critic_loss.item(), 4), "reward", round(reward.mean().item(), 3))
