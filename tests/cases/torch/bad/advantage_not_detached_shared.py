import torch
import torch.nn as nn

torch.manual_seed(309)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 32)
        self.pi = nn.Linear(32, 2)
        self.v = nn.Linear(32, 1)

    def forward(self, x):
        h = torch.tanh(self.trunk(x))
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


net = ActorCritic()
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
for step in range(50):
    s, s2 = torch.randn(16, 4), torch.randn(16, 4)
    dist, value = net(s)
    action = dist.sample()
    reward = (action == (s[:, 0] > 0).long()).float()
    with torch.no_grad():
        ahead = net(s2)[1]
    advantage = reward + 0.9 * ahead - value
    policy_loss = -(dist.log_prob(action) * advantage).mean()
    loss = policy_loss + 0.5 * advantage.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
