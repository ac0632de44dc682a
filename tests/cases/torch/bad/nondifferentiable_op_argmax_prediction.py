import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)

for step in range(30):
    states, rewards = torch.randn(32, 4), torch.randn(32)
    actions = torch.randint(3, (32, 1))
    prediction = q_net(states).argmax(1).float()
    loss = F.mse_loss(prediction, rewards)
    loss.requires_grad_(True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
