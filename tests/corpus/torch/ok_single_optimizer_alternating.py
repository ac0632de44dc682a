import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(110)
nets = nn.ModuleDict({
    "actor": nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3)),
    "critic": nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1)),
})
opt = torch.optim.Adam(nets.parameters(), lr=2e-3)


def critic_update(obs, ret):
    loss = (nets["critic"](obs).squeeze(-1) - ret).pow(2).mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    return loss.item()


def actor_update(obs, act, ret):
    with torch.no_grad():
        adv = ret - nets["critic"](obs).squeeze(-1)
    loss = -(Categorical(logits=nets["actor"](obs)).log_prob(act) * adv).mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    return loss.item()


for it in range(40):
    obs = torch.randn(64, 4)
    act = Categorical(logits=nets["actor"](obs).detach()).sample()
    ret = (act == obs[:, :3].argmax(1)).float()
    c = critic_update(obs, ret)
    a = actor_update(obs, act, ret)
print("critic", round(c, 4), "actor", round(a, 4))
