import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(119)


def mlp(h):
    return nn.Sequential(nn.Linear(5, h), nn.Tanh(), nn.Linear(h, 3))


def train_teacher(teacher, steps=40):
    opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
    for _ in range(steps):
        obs = torch.randn(64, 5)
        d = Categorical(logits=teacher(obs))
        a = d.sample()
        r = obs.gather(1, a[:, None])[:, 0]
        loss = -(d.log_prob(a) * (r - r.mean())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def distill(teacher, student, steps=40, T=2.0):
    opt = torch.optim.Adam(student.parameters(), lr=5e-3)
    for _ in range(steps):
        obs = torch.randn(64, 5)
        with torch.inference_mode():
            soft = F.softmax(teacher(obs) / T, -1)
        soft = soft.clone()
        loss = F.kl_div(F.log_softmax(student(obs) / T, -1), soft, reduction="batchmean") * T * T
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


teacher, student = mlp(64), mlp(16)
train_teacher(teacher)
print("distillation loss", round(distill(teacher, student), 5))
