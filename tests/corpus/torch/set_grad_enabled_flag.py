import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(25)


class PixelAgent:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(36, 16), nn.Tanh())
        self.mu = nn.Linear(16, 1)
        self.log_std = nn.Parameter(torch.zeros(1))
        self.value = nn.Linear(16, 1)
        params = [*self.encoder.parameters(), *self.mu.parameters(), self.log_std, *self.value.parameters()]
        self.opt = torch.optim.Adam(params, lr=1e-3)

    def features(self, img, train=False):
        with torch.set_grad_enabled(train):
            return self.encoder(img)

    def dist(self, z):
        return Normal(self.mu(z), self.log_std.exp())

    def act(self, img):
        with torch.no_grad():
            return self.dist(self.features(img)).sample()

    def update(self, img, act, ret):
        z = self.features(img)
        value = self.value(z)
        logp = self.dist(z).log_prob(act)
        loss = -(logp * (ret - value).detach()).mean() + (ret - value).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


agent = PixelAgent()
for it in range(40):
    img = torch.rand(32, 1, 8, 8)
    act = agent.act(img)
    ret = -((act - img.mean((2, 3)) * 4 + 2) ** 2)
    loss = agent.update(img, act, ret)
print("loss", round(loss, 4))
