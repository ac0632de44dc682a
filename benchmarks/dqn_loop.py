"""The program that overhead.py measures: DQN updates of a 2x64 network on random batches of 32.

It waits for a line on its input before each turn of updates, so that several copies can take turns.
"""

import copy
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

TURN = 50

updates, anomaly = int(sys.argv[1]), "--anomaly" in sys.argv
torch.manual_seed(0)
torch.set_num_threads(1)
q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
states, actions = torch.randn(1000, 4), torch.randint(0, 2, (1000, 1))
rewards, done = torch.randn(1000, 1), (torch.rand(1000, 1) < 0.1).float()
torch.autograd.set_detect_anomaly(anomaly)

sys.stdin.readline()
started = time.process_time()
for update in range(updates):
    idx = torch.randint(0, 999, (32,))
    q = q_net(states[idx]).gather(1, actions[idx])
    with torch.no_grad():
        y = rewards[idx] + 0.99 * (1 - done[idx]) * target_net(states[idx + 1]).max(1, keepdim=True)[0]
    loss = F.smooth_l1_loss(q, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 500 == 0:
        target_net.load_state_dict(q_net.state_dict())
    if update % TURN == TURN - 1:
        print(time.process_time() - started, loss.item(), flush=True)
        sys.stdin.readline()
        started = time.process_time()
