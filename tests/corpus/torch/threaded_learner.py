import queue
import threading

import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(13)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.actor = nn.Linear(32, 2)
        self.critic = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


shared = Net()
optimizer = torch.optim.Adam(shared.parameters(), lr=3e-3)
work, results = queue.Queue(), queue.Queue()


def learner():
    while True:
        item = work.get()
        if item is None:
            return
        obs, acts, logps, rewards = item
        obs = torch.stack(obs)
        dist, value = shared(obs)
        rewards = torch.tensor(rewards)
        logps = torch.tensor(logps)
        adv = rewards - value.detach()
        loss = -(logps * adv).mean() + 0.5 * (rewards - value).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        results.put(loss.item())


thread = threading.Thread(target=learner, daemon=True)
thread.start()
for it in range(25):
    obs, acts, logps, rewards = [], [], [], []
    for _ in range(16):
        o = torch.randn(4)
        with torch.enable_grad():
            dist, _ = shared(o)
            a = dist.sample()
            logps.append(dist.log_prob(a).item())
        obs.append(o)
        acts.append(a.item())
        rewards.append(float((o[0] > 0) == bool(a.item())))
    work.put((obs, acts, logps, rewards))
    loss = results.get()
work.put(None)
thread.join()
print("last loss", round(loss, 4))
