import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(134)


class PPG(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.pi = nn.Linear(32, 3)
        self.aux_v = nn.Linear(32, 1)
        self.v = nn.Linear(32, 1)

    def forward(self, x):
        h = self.net(x)
        return self.pi(h), self.v(h.detach()).squeeze(-1), self.aux_v(h).squeeze(-1)


agent = PPG()
opt = torch.optim.Adam(agent.parameters(), lr=2e-3)
for phase in range(4):
    store = []
    for _ in range(6):
        obs = torch.randn(64, 5)
        logits, v, _ = agent(obs)
        d = Categorical(logits=logits)
        a = d.sample()
        r = (a == obs[:, :3].argmax(1)).float()
        loss = -(d.log_prob(a) * (r - v).detach()).mean() + 0.5 * (r - v).pow(2).mean() - 0.01 * d.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        store.append((obs, r))
    with torch.no_grad():
        old = [F.log_softmax(agent(o)[0], -1) for o, _ in store]
    for (obs, r), target in zip(store, old):
        logits, v, aux = agent(obs)
        clone = F.kl_div(F.log_softmax(logits, -1), target, log_target=True, reduction="batchmean")
        loss = 0.5 * (aux - r).pow(2).mean() + clone + 0.5 * (v - r).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print("reward", round(r.mean().item(), 3))
