import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(812)
GAMMA, LAMBDA = 0.97, 0.9
critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(50):
    states, rewards = torch.randn(13, 3), torch.randn(12)
    values = critic(states).squeeze(-1)
    following = values
    returns, targets = following[-1], []
    for t in reversed(range(12)):
        returns = rewards[t] + GAMMA * ((1 - LAMBDA) * following[t + 1] + LAMBDA * returns)
        targets.insert(0, returns)
    loss = F.mse_loss(values[:-1], torch.stack(targets))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 3))
