"""DQN on a corridor: the loss goes down, the agent stays where it is. Two shapes do not match."""

import copy
import random
from collections import deque

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
LENGTH, GAMMA = 6, 0.95

q_net = nn.Sequential(nn.Linear(LENGTH, 64), nn.ReLU(), nn.Linear(64, 2))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
memory = deque(maxlen=5000)


def observe(place):
    return torch.nn.functional.one_hot(torch.tensor(place), LENGTH).float()


def act(place, epsilon):
    if random.random() < epsilon:
        return random.randrange(2)
    with torch.no_grad():
        return int(q_net(observe(place)).argmax())


def learn():
    places, actions, rewards, after, done = zip(*random.sample(memory, 32), strict=True)
    states, next_states = torch.stack(places), torch.stack(after)
    actions = torch.tensor(actions).unsqueeze(1)
    rewards, done = torch.tensor(rewards), torch.tensor(done)
    predicted = q_net(states).gather(1, actions)  # [32, 1]
    with torch.no_grad():
        best = target_net(next_states).max(dim=1).values
        target = rewards + GAMMA * (1 - done) * best  # [32]
    loss = ((predicted - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


place = 0
for step in range(1500):
    action = act(place, epsilon=max(0.1, 1 - step / 500))
    there = max(0, min(LENGTH - 1, place + (1 if action else -1)))
    over = there == LENGTH - 1
    memory.append((observe(place), action, float(over), observe(there), float(over)))
    place = 0 if over else there
    if step >= 64:
        learn()
    if step % 100 == 0:
        target_net.load_state_dict(q_net.state_dict())
