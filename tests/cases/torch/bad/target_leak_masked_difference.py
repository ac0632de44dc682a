import torch
import torch.nn as nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
gamma = 0.95

for step in range(40):
    state, following = torch.randn(32, 4), torch.randn(32, 4)
    r, done = state[:, 0], (torch.rand(32) < 0.1).float()
    v = critic(state).squeeze(1)
    v_next = critic(following).squeeze(1)
    delta = r + gamma * v_next * (1 - done) - v
    loss = delta.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
