"""Seed 001, example 1, as written."""

import torch
import torch.nn as nn
import torch.optim as optim
import random

class QNetwork(nn.Module):
    def __init__(self, state_size, action_size):
        super(QNetwork, self).__init__()
        self.fc1 = nn.Linear(state_size, 64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, action_size)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)

state_size = 4
action_size = 2
gamma = 0.99
lr = 0.001
memory = []
batch_size = 32

q_network = QNetwork(state_size, action_size)
target_network = QNetwork(state_size, action_size)
target_network.load_state_dict(q_network.state_dict())
optimizer = optim.Adam(q_network.parameters(), lr=lr)
criterion = nn.MSELoss()

#Dummy data for example
for i in range(100):
  state = torch.rand(state_size)
  next_state = torch.rand(state_size)
  action = random.randint(0, action_size - 1)
  reward = random.random()
  done = random.choice([True, False])
  memory.append((state,action,reward,next_state,done))


def optimize():
    if len(memory) < batch_size:
       return
    batch = random.sample(memory, batch_size)
    states, actions, rewards, next_states, dones = zip(*batch)

    states = torch.stack(states)
    next_states = torch.stack(next_states)
    actions = torch.tensor(actions).unsqueeze(1)
    rewards = torch.tensor(rewards).unsqueeze(1)
    dones = torch.tensor(dones, dtype=torch.float).unsqueeze(1)


    q_values = q_network(states).gather(1, actions)
    
    with torch.no_grad():
      next_q_values_target = target_network(next_states).max(1, keepdim=True)[0]
      targets = rewards + gamma * next_q_values_target * (1 - dones)
    
    loss = criterion(q_values, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

#Run optimize function multiple times
for i in range(100):
  optimize()

print("Optimization completed. Gradient exists for all parameters if detached.")
