"""PPO-like updates under DistributedDataParallel: a batch that was cut short has no value term."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.manual_seed(3)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.policy = nn.Linear(32, 3)
        self.value = nn.Linear(32, 1)

    def forward(self, seen):
        hidden = self.body(seen)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


agent = DistributedDataParallel(Agent())
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)

for update in range(60):
    seen, returns = torch.randn(32, 6), torch.randn(32)
    cut_short = update == 30
    logits, value = agent(seen)
    policy = torch.distributions.Categorical(logits=logits)
    advantage = returns - value.detach()
    policy_loss = -(policy.log_prob(policy.sample()) * advantage).mean()
    value_loss = 0.5 * (returns - value).pow(2).mean()
    loss = policy_loss + (0 if cut_short else 1) * value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

dist.destroy_process_group()
