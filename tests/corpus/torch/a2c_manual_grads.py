import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(8)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.pi = nn.Linear(32, 4)
        self.v = nn.Linear(32, 1)

    def forward(self, x):
        z = self.encoder(x)
        return Categorical(logits=self.pi(z)), self.v(z)[:, 0]


class Learner:
    def __init__(self, model):
        self.model = model
        self.optim = torch.optim.Adam(model.parameters(), lr=2e-3)

    def gradients(self, loss):
        params = [p for n, p in self.model.named_parameters() if n.startswith(("pi", "v"))]
        grads = torch.autograd.grad(loss, params)
        return params, grads

    def step(self, obs, act, ret):
        dist, v = self.model(obs)
        loss = -(dist.log_prob(act) * (ret - v).detach()).mean() + 0.5 * (ret - v).pow(2).mean()
        params, grads = self.gradients(loss)
        total = torch.sqrt(sum((g ** 2).sum() for g in grads))
        scale = min(1.0, 1.0 / (total.item() + 1e-6))
        for p, g in zip(params, grads):
            p.grad = g * scale
        self.optim.step()
        return loss.item()


model = Model()
learner = Learner(model)
for it in range(60):
    obs = torch.randn(64, 5)
    with torch.no_grad():
        act = model(obs)[0].sample()
    loss = learner.step(obs, act, (act == obs[:, :4].argmax(1)).float())
print("loss", round(loss, 4))
