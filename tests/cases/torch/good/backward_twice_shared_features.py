import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(240)
trunk = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
policy_head = nn.Linear(32, 3)
value_head = nn.Linear(32, 1)
opt = torch.optim.Adam([*trunk.parameters(), *policy_head.parameters(), *value_head.parameters()], lr=3e-3)

for it in range(40):
    obs = torch.randn(64, 4)
    features = trunk(obs)
    dist = Categorical(logits=policy_head(features))
    value = value_head(features).squeeze(-1)
    act = dist.sample()
    reward = obs.gather(1, act.unsqueeze(1)).squeeze(1)
    policy_loss = -(dist.log_prob(act) * (reward - value).detach()).mean()
    value_loss = (reward - value).pow(2).mean()
    opt.zero_grad()
    policy_loss.backward(retain_graph=True)
    value_loss.backward()
    opt.step()
    if it % 10 == 0:
        print("it", it, "reward", round(reward.mean().item(), 3), "value loss", round(value_loss.item(), 4))
