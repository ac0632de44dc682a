import copy

import torch
import torch.nn as nn

torch.manual_seed(303)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
reference = copy.deepcopy(policy).requires_grad_(False)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def log_prob(network, states, actions):
    return torch.log_softmax(network(states), -1).gather(-1, actions[:, None]).squeeze(-1)


for step in range(40):
    states, actions, advantages = torch.randn(32, 4), torch.randint(0, 3, (32,)), torch.randn(32)
    with torch.no_grad():
        old, ref = log_prob(policy, states, actions), log_prob(reference, states, actions) - 0.1
    new = log_prob(policy, states, actions)
    ratio = (new - old).exp()
    objective = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    kl = ((ref - new).exp() - (ref - new) - 1).mean()
    loss = -objective + 0.04 * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 4))
