import torch
import torch.nn as nn

torch.manual_seed(307)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for episode in range(30):
    obs = torch.randn(24, 4)
    with torch.no_grad():
        action = torch.distributions.Categorical(logits=policy(obs)).sample()
    reward = (action == (obs[:, 0] > 0).long()).float()
    new = torch.distributions.Categorical(logits=policy(obs)).log_prob(action)
    old = new
    ratio = torch.exp(new - old)
    gain = reward - reward.mean()
    loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 10 == 0:
        print(episode, round(reward.mean().item(), 3))
