import copy
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn

T = namedtuple("T", "s a r s2 d")
random.seed(23)
torch.manual_seed(23)


class DuelingDQN(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(n_obs, 32), nn.ReLU())
        self.value_stream = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
        self.adv_stream = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, n_act))

    def forward(self, x):
        h = self.features(x)
        v = self.value_stream(h)
        a = self.adv_stream(h)
        return a - a.mean(dim=1, keepdim=True)


q = DuelingDQN(3, 2)
q_target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = deque(maxlen=400)
s = [0.0, 0.0, 0.0]
for t in range(150):
    a = random.randrange(2) if random.random() < 0.3 else int(q(torch.tensor([s])).argmax())
    s2 = [random.gauss(0, 1) for _ in range(3)]
    memory.append(T(s, a, float((s[0] > 0) == bool(a)), s2, 0.0))
    s = s2
    if len(memory) < 64:
        continue
    batch = T(*zip(*random.sample(memory, 32)))
    S, S2 = torch.tensor(batch.s), torch.tensor(batch.s2)
    A, R, D = torch.tensor(batch.a)[:, None], torch.tensor(batch.r)[:, None], torch.tensor(batch.d)[:, None]
    with torch.no_grad():
        best = q(S2).argmax(1, keepdim=True)
        y = R + 0.9 * (1 - D) * q_target(S2).gather(1, best)
    td = q(S).gather(1, A) - y
    loss = (td ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if t % 25 == 0:
        q_target.load_state_dict(q.state_dict())
        print("t", t, "loss", round(loss.item(), 4))
