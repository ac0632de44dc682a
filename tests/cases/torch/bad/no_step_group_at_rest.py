import torch
import torch.nn as nn

torch.manual_seed(32)


def train(updates=60, actor_lr=0.0):
    actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    groups = [{"params": actor.parameters(), "lr": actor_lr}, {"params": critic.parameters()}]
    opt = torch.optim.Adam(groups, lr=1e-3)
    for update in range(updates):
        obs = torch.randn(64, 4)
        dist = torch.distributions.Categorical(logits=actor(obs))
        act = dist.sample()
        ret = (act == (obs[:, 0] > 0).long()).float()
        value = critic(obs).squeeze(1)
        loss = -(dist.log_prob(act) * (ret - value).detach()).mean() + (ret - value).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if update % 20 == 0:
            print(update, round(ret.mean().item(), 3))


train()
