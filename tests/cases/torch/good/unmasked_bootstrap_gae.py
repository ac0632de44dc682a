import torch
from torch import nn

torch.manual_seed(0)
T, N = 16, 4


class AC(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def value(self, x):
        return self.critic(x).squeeze(-1)


agent = AC()
opt = torch.optim.Adam(agent.parameters(), 1e-3)
for it in range(20):
    obs = torch.randn(T, N, 4)
    dones = (torch.rand(T, N) < 0.1).float()
    rewards = torch.randn(T, N)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=agent.actor(obs))
        acts = dist.sample()
        oldlp = dist.log_prob(acts)
        values = agent.value(obs)
        next_value = agent.value(torch.randn(N, 4))
        adv = torch.zeros(T, N)
        last, gamma = torch.zeros(N), 0.99
        for t in reversed(range(T)):
            nv = next_value if t == T - 1 else values[t + 1]
            gamma = 0.99 * (1 - dones[t])
            delta = rewards[t] + gamma * nv - values[t]
            last = delta + gamma * 0.95 * last
            adv[t] = last
        returns = adv + values
    for _ in range(2):
        dist = torch.distributions.Categorical(logits=agent.actor(obs))
        ratio = (dist.log_prob(acts) - oldlp).exp()
        a = (adv - adv.mean()) / (adv.std() + 1e-8)
        pg = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
        v = 0.5 * (agent.value(obs) - returns).pow(2).mean()
        loss = pg + 0.5 * v - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
