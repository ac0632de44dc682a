import torch
import torch.nn as nn

torch.manual_seed(27)


class PopArtValue(nn.Module):
    def __init__(self, n_obs):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, 1))
        self.register_buffer("mu", torch.zeros(1))
        self.register_buffer("sigma", torch.ones(1))

    def forward(self, x):
        return self.body(x) * self.sigma + self.mu

    def observe(self, returns, beta=0.1):
        self.mu = (1 - beta) * self.mu + beta * returns.mean()
        self.sigma.mul_(1 - beta).add_(beta * returns.std())


critic = PopArtValue(4)
opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
for it in range(40):
    obs = torch.randn(64, 4)
    ret = 50 * obs[:, :1] + 20
    value = critic(obs)
    critic.observe(ret)
    loss = (((value - ret) / 50) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("value loss", round(loss.item(), 4))
