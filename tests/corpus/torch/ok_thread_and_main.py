import queue
import threading

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(136)
rng = np.random.default_rng(136)
net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
inbox, outbox = queue.Queue(maxsize=1), queue.Queue()


class Learner(threading.Thread):
    def run(self):
        for obs, act, logp, rew in iter(inbox.get, None):
            obs, act = torch.from_numpy(obs), torch.from_numpy(act)
            adv = torch.from_numpy(rew - rew.mean())
            ratio = (Categorical(logits=net(obs)).log_prob(act) - torch.from_numpy(logp)).exp()
            loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            outbox.put(loss.item())


learner = Learner()
learner.start()
for it in range(25):
    obs = rng.standard_normal((48, 4)).astype(np.float32)
    with torch.no_grad():
        d = Categorical(logits=net(torch.from_numpy(obs)))
        act = d.sample()
        logp = d.log_prob(act).numpy()
    act = act.numpy()
    rew = (act == (obs[:, 0] > 0)).astype(np.float32)
    inbox.put((obs, act, logp, rew))
    loss = outbox.get()
inbox.put(None)
learner.join()
print("reward", round(float(rew.mean()), 3))
