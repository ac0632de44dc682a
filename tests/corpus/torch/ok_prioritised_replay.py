import copy

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(131)
np.random.seed(131)


class PER:
    def __init__(self, size=256, alpha=0.6):
        self.size, self.alpha = size, alpha
        self.items, self.prio = [], np.ones(size, dtype=np.float32)

    def add(self, item):
        if len(self.items) < self.size:
            self.items.append(item)

    def sample(self, n, beta=0.4):
        p = self.prio[: len(self.items)] ** self.alpha
        p = p / p.sum()
        idx = np.random.choice(len(self.items), n, p=p)
        w = (len(self.items) * p[idx]) ** (-beta)
        batch = [np.array(x, dtype=np.float32) for x in zip(*[self.items[i] for i in idx])]
        return idx, torch.tensor(w / w.max(), dtype=torch.float32), [torch.from_numpy(b) for b in batch]

    def update(self, idx, td):
        self.prio[idx] = np.abs(td) + 1e-3


q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
q_t = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
per = PER()
for t in range(150):
    s, a = np.random.randn(4), np.random.randint(2)
    per.add((s, a, float((s[0] > 0) == a), np.random.randn(4)))
    if t < 50:
        continue
    idx, w, (S, A, R, S2) = per.sample(32)
    with torch.no_grad():
        y = R + 0.9 * q_t(S2).max(1).values
    td = q(S).gather(1, A.long().unsqueeze(1)).squeeze(1) - y
    loss = (w * td.pow(2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    per.update(idx, td.detach().cpu().numpy())
    if t % 25 == 0:
        q_t.load_state_dict(q.state_dict())
print("loss", round(loss.item(), 4))
