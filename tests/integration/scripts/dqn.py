"""A small DQN on a corridor. Prints as it goes and leaves its weights in weights.bin."""

import random
import sys
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
np.random.seed(1)
torch.manual_seed(1)


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 2)

    def forward(self, x):
        return self.head(self.body(x))


online, target = QNetwork(), QNetwork()
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
memory = deque(maxlen=500)

position = 0.0
for step in range(int(sys.argv[1]) if len(sys.argv) > 1 else 150):
    state = np.array([position, np.random.rand()], dtype=np.float32)
    if random.random() < 0.2:
        action = random.randrange(2)
    else:
        online.eval()
        with torch.no_grad():
            action = int(online(torch.from_numpy(state).unsqueeze(0)).argmax(dim=1).item())
        online.train()
    position = max(-1.0, min(1.0, position + (0.1 if action else -0.1)))
    following = np.array([position, np.random.rand()], dtype=np.float32)
    memory.append((state, action, position, following))
    if len(memory) < 32:
        continue
    batch = random.sample(memory, 32)
    states, actions, rewards, followings = (np.stack(x) for x in zip(*batch, strict=True))
    q = online(torch.as_tensor(states)).gather(1, torch.as_tensor(actions).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = target(torch.as_tensor(followings)).max(1).values
    loss = F.smooth_l1_loss(q, torch.as_tensor(rewards, dtype=torch.float32) + 0.9 * best)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(online.parameters(), 1.0)
    optimizer.step()
    if step % 20 == 0:
        target.load_state_dict(online.state_dict())
        print(step, loss.item(), file=sys.stderr if step % 40 else sys.stdout)

print(torch.rand(2), np.random.rand(), random.random())
with open("weights.bin", "wb") as file:
    for parameter in online.parameters():
        file.write(parameter.detach().numpy().tobytes())
