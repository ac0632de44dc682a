import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(227)
random.seed(227)
q_net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
target_net = copy.deepcopy(q_net)
for p in q_net.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
memory = deque(maxlen=500)


def transition():
    s = [random.uniform(-1, 1) for _ in range(3)]
    a = random.randrange(2)
    return s, a, float((s[0] > 0) == bool(a)), [random.uniform(-1, 1) for _ in range(3)]


for step in range(100):
    memory.append(transition())
    if len(memory) < 32:
        continue
    s, a, r, s2 = zip(*random.sample(memory, 32))
    s, s2 = torch.tensor(s), torch.tensor(s2)
    a, r = torch.tensor(a).unsqueeze(1), torch.tensor(r).unsqueeze(1)
    with torch.no_grad():
        y = r + 0.5 * target_net(s2).max(1, keepdim=True).values
    loss = F.mse_loss(q_net(s).gather(1, a), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        target_net.load_state_dict(q_net.state_dict())
        print("step", step, "loss", round(loss.item(), 4))
