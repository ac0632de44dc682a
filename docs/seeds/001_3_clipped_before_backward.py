"""Seed 001, example 3, with the clipping before the gradients are there."""

import torch
import torch.nn as nn
import torch.optim as optim
import random

class BasicNetwork(nn.Module):
  def __init__(self,input_size, hidden_size, output_size):
    super(BasicNetwork, self).__init__()
    self.fc1 = nn.Linear(input_size, hidden_size)
    self.fc2 = nn.Linear(hidden_size, output_size)

  def forward(self,x):
    x = torch.relu(self.fc1(x))
    return self.fc2(x)

input_size = 4
hidden_size = 64
output_size = 1
lr = 0.001
memory = []
batch_size = 32
network = BasicNetwork(input_size, hidden_size, output_size)
optimizer = optim.Adam(network.parameters(), lr=lr)
criterion = nn.MSELoss()


#Dummy Data
for i in range(100):
  state = torch.rand(input_size)
  target = random.random()
  memory.append((state, target))

def optimize():
    if len(memory) < batch_size:
       return
    batch = random.sample(memory, batch_size)
    states, targets = zip(*batch)
    states = torch.stack(states)
    targets = torch.tensor(targets).unsqueeze(1)

    predictions = network(states)
    loss = criterion(predictions, targets)
    optimizer.zero_grad()
    torch.nn.utils.clip_grad_norm_(network.parameters(), max_norm=1.0)
    loss.backward()
    optimizer.step()

for i in range(100):
  optimize()
print("Optimization with gradient clipping completed, no gradient issues exist.")
