import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(205)


class A2C(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_obs, 48), nn.ReLU())
        self.policy = nn.Linear(48, n_act)
        self.value = nn.Linear(48, 1)


net = A2C(4, 3)
optim = torch.optim.Adam(net.parameters(), lr=1e-3)


def update(obs, act, ret):
    h = net.trunk(obs)
    dist = Categorical(logits=net.policy(h))
    with torch.enable_grad():
        v = net.value(h).squeeze(-1)
    advantage = (ret - v).detach()
    pg = -(dist.log_prob(act) * advantage).mean()
    vf = (ret - v).pow(2).mean()
    loss = pg + 0.5 * vf - 0.001 * dist.entropy().mean()
    optim.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optim.step()
    return pg.item(), vf.item()


for it in range(60):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        act = Categorical(logits=net.policy(net.trunk(obs))).sample()
    ret = obs[torch.arange(64), act]
    out = update(obs, act, ret)
    if it % 20 == 0:
        print("it", it, "pg %.4f vf %.4f" % out)
