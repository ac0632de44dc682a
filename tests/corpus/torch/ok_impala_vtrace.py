import copy

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(121)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.pi, self.v = nn.Linear(32, 3), nn.Linear(32, 1)

    def forward(self, x):
        h = self.f(x)
        return self.pi(h), self.v(h).squeeze(-1)


def vtrace(log_rhos, rewards, values, bootstrap, gamma=0.95):
    with torch.no_grad():
        rhos = log_rhos.exp().clamp(max=1.0)
        nxt = torch.cat([values[1:], bootstrap[None]])
        deltas = rhos * (rewards + gamma * nxt - values)
        acc, out = torch.zeros_like(bootstrap), []
        for t in reversed(range(len(rewards))):
            acc = deltas[t] + gamma * rhos[t] * acc
            out.insert(0, acc)
        vs = torch.stack(out) + values
        pg_adv = rhos * (rewards + gamma * torch.cat([vs[1:], bootstrap[None]]) - values)
    return vs, pg_adv


learner = Net()
actor = copy.deepcopy(learner)
opt = torch.optim.RMSprop(learner.parameters(), lr=2e-3)
for it in range(30):
    obs = torch.randn(7, 8, 4)
    with torch.no_grad():
        behaviour = Categorical(logits=actor(obs)[0][:-1])
        act = behaviour.sample()
    rew = (act == obs[:-1, :, :3].argmax(-1)).float()
    logits, values = learner(obs)
    pi = Categorical(logits=logits[:-1])
    log_rhos = pi.log_prob(act) - behaviour.log_prob(act)
    vs, adv = vtrace(log_rhos.detach(), rew, values[:-1].detach(), values[-1].detach())
    loss = -(pi.log_prob(act) * adv).sum() + 0.5 * (vs - values[:-1]).pow(2).sum() - 0.01 * pi.entropy().sum()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(learner.parameters(), 40.0)
    opt.step()
    if it % 5 == 4:
        actor.load_state_dict(learner.state_dict())
print("reward", round(rew.mean().item(), 3))
