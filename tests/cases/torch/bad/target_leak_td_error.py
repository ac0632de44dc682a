import torch
import torch.nn as nn

torch.manual_seed(302)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 24)
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        return self.head(torch.relu(self.body(x))).squeeze(-1)


critic = Critic()
optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2)
state = torch.randn(3)
for step in range(80):
    following = 0.9 * state + 0.1 * torch.randn(3)
    reward = float(-(following**2).sum())
    with torch.enable_grad():
        ahead = critic(following)
    delta = reward + 0.9 * ahead - critic(state)
    loss = delta.pow(2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = following
    if step % 20 == 0:
        print(step, round(loss.item(), 3))
