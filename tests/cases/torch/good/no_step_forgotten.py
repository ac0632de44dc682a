import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(234)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=2e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    def update(self, obs, act, ret):
        value = self.critic(obs).squeeze(-1)
        critic_loss = (ret - value).pow(2).mean()
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        logp = Categorical(logits=self.actor(obs)).log_prob(act)
        actor_loss = -(logp * (ret - value.detach())).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        return critic_loss.item()


agent = Agent()
for it in range(60):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        act = Categorical(logits=agent.actor(obs)).sample()
    ret = (act == (obs[:, 0] > 0).long()).float()
    loss = agent.update(obs, act, ret)
    if it % 20 == 0:
        print("it", it, "return", round(ret.mean().item(), 3), "critic loss", round(loss, 4))
