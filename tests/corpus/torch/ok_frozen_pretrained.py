import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(107)
path = os.path.join(tempfile.mkdtemp(), "encoder.pt")


def make_encoder():
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6))


def pretrain():
    enc, dec = make_encoder(), nn.Linear(6, 8)
    opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=3e-3)
    for _ in range(30):
        x = torch.randn(64, 8)
        loss = F.mse_loss(dec(enc(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    torch.save(enc.state_dict(), path)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = make_encoder()
        self.encoder.load_state_dict(torch.load(path))
        for p in self.encoder.parameters():
            p.requires_grad = False
        self.head = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 4))

    def forward(self, x):
        with torch.no_grad():
            z = self.encoder(x)
        return Categorical(logits=self.head(z))


pretrain()
policy = Policy()
opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
for it in range(40):
    obs = torch.randn(64, 8)
    d = policy(obs)
    a = d.sample()
    r = (a == obs[:, :4].argmax(1)).float()
    loss = -(d.log_prob(a) * (r - r.mean())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("reward", round(r.mean().item(), 3))
