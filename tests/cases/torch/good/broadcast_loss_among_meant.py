import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.manual_seed(306)
N, A, K = 24, 3, 8
body = nn.Sequential(nn.Linear(4, 32), nn.LayerNorm(32), nn.Tanh())
state_value, advantage = nn.Linear(32, 1), nn.Linear(32, A)
quantiles, critics = nn.Linear(32, K), nn.ModuleList([nn.Linear(32, 1) for _ in range(4)])
mean, log_std = nn.Linear(32, A), nn.Parameter(torch.zeros(A))
baseline, log_alpha = nn.Parameter(torch.zeros(())), nn.Parameter(torch.zeros(()))
learned = nn.ModuleList([body, state_value, advantage, quantiles, critics, mean])
optimizer = torch.optim.Adam([*learned.parameters(), log_std, baseline, log_alpha], lr=1e-3)
tau = (torch.arange(K) + 0.5) / K

for step in range(40):
    states, actions = torch.randn(N, 4), torch.randint(0, A, (N,))
    returns, weights = states[:, :1] + 0.1 * torch.randn(N, 1), torch.rand(N, 1)
    h = body(states)

    value, scores = state_value(h), advantage(h)
    q = value + scores - scores.mean(1, keepdim=True)  # dueling: (N, 1) and (N, A)
    taken = F.one_hot(actions, A).float()
    masked = (((q - returns) ** 2) * taken).sum(1).mean()  # of all actions one is kept

    theta = quantiles(h)
    sampled = theta.detach() * 0.9 + returns
    u = sampled.unsqueeze(1) - theta.unsqueeze(2)  # each with each, (N, 1, K) and (N, K, 1)
    huber = torch.where(u.abs() <= 1, 0.5 * u.pow(2), u.abs() - 0.5)
    quantile = ((tau[:, None] - (u.detach() < 0).float()).abs() * huber).sum(1).mean()
    single = returns - theta  # one return for all quantiles
    quantile = quantile + ((tau - (single.detach() < 0).float()).abs() * single.abs()).mean()

    several = torch.cat([critic(h) for critic in critics], dim=1)
    ensemble = (weights * (several - returns) ** 2).mean()  # (N, 4) and (N, 1): one target for all

    dist = Normal(mean(h), log_std.exp())
    drawn = dist.sample()
    policy = -(dist.log_prob(drawn) * (returns - value.detach())).mean()  # (N, A) and (N, 1)
    entropy = -log_alpha.exp().detach() * dist.entropy().sum(1, keepdim=True).mean()
    temperature = -(log_alpha * (dist.log_prob(drawn).sum(1) + 1.0).detach()).mean()

    spread = ((q - q.mean().detach()) ** 2).mean() + (baseline - returns).pow(2).mean()
    fitted = (value - returns).pow(2).mean()
    loss = masked + quantile + ensemble + policy + 0.1 * entropy + temperature + 0.01 * spread + fitted
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
