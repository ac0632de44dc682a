"""Seed 001, example 2, with the rewards themselves as the loss."""

import torch
import torch.nn as nn
import torch.optim as optim
import torch.nn.functional as F
import random

class PolicyNetwork(nn.Module):
    def __init__(self, state_size, action_size):
        super(PolicyNetwork, self).__init__()
        self.fc1 = nn.Linear(state_size, 64)
        self.fc2 = nn.Linear(64, action_size)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = self.fc2(x)
        return F.softmax(x, dim=-1)

state_size = 4
action_size = 2
lr = 0.001
gamma = 0.99
memory = []
batch_size = 32
policy = PolicyNetwork(state_size, action_size)
optimizer = optim.Adam(policy.parameters(), lr=lr)

#Dummy data
for i in range(100):
  state = torch.rand(state_size)
  action = random.randint(0, action_size - 1)
  reward = random.random()
  memory.append((state,action,reward))


def optimize():
    if len(memory) < batch_size:
       return
    batch = random.sample(memory, batch_size)
    states, actions, rewards = zip(*batch)
    states = torch.stack(states)
    actions = torch.tensor(actions)
    rewards = torch.tensor(rewards)

    action_probs = policy(states)
    log_probs = torch.log(action_probs.gather(1, actions.unsqueeze(1)))
    advantages = rewards - rewards.mean()
    loss = -rewards.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for i in range(100):
    optimize()
print("Optimization complete, gradient exists through surrogate loss")

