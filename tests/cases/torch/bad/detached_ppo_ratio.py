import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(202)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.pi = nn.Linear(32, 3)
        self.v = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.trunk(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def ppo_update(net, opt, obs, act, old_logp, ret, clip=0.2):
    for _ in range(4):
        dist, value = net(obs)
        adv = ret - value.detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        logp = dist.log_prob(act).detach()
        ratio = torch.exp(logp - old_logp)
        surrogate = torch.min(ratio * adv, torch.clamp(ratio, 1 - clip, 1 + clip) * adv)
        policy_loss = -surrogate.mean()
        value_loss = 0.5 * (ret - value).pow(2).mean()
        loss = policy_loss + value_loss - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for it in range(12):
    obs = torch.randn(128, 5)
    with torch.no_grad():
        dist, _ = net(obs)
        act = dist.sample()
        old_logp = dist.log_prob(act)
    ret = (act == obs[:, :3].argmax(1)).float()
    loss = ppo_update(net, opt, obs, act, old_logp, ret)
    if it % 4 == 0:
        print(f"it {it} reward {ret.mean().item():.3f} loss {loss:.4f}")
