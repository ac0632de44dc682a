import copy
from collections import namedtuple
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(5)
Batch = namedtuple("Batch", "obs action ret nxt done steps")


def draw(size=32):
    raw = Batch(
        torch.randn(size, 4),
        torch.randint(2, (size, 1)),
        torch.randn(size),
        torch.randn(size, 4),
        torch.rand(size) < 0.2,
        torch.randint(1, 4, (size,)),
    )
    return Batch(raw.obs, raw.action, raw.ret.unsqueeze(1), raw.nxt, done=raw.done.float().unsqueeze(1), steps=raw.steps.float().unsqueeze(1))


class Learner:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = copy.deepcopy(self.online)
        self.opt = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def learn(self, batch):
        q = self.online(batch.obs).gather(1, batch.action)
        with torch.no_grad():
            q_next = self.target(batch.nxt).max(1, keepdim=True).values
            target = batch.ret + 0.98**batch.steps * (1 - batch.done) * q_next
        loss = F.smooth_l1_loss(q, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def main():
    learner = Learner()
    for i in range(40):
        learner.learn(draw())
        if i % 10 == 9:
            learner.target.load_state_dict(learner.online.state_dict())


main()
