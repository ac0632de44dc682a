import time, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.policy, self.value = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 1)

    def forward(self, state):
        features = torch.relu(self.body(state))
        return self.policy(features), self.value(features)


class Buffer:
    def __init__(self):
        self.asked = 0

    def full(self):
        self.asked += 1
        return self.asked < 20


dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
model, buffer, action = DistributedDataParallel(Model()), Buffer(), torch.randint(0, 2, (16,))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(30):
    logits, value = model(state)
    policy_loss = -(Categorical(logits=logits).log_prob(action) * advantage).mean()
    optimizer.zero_grad()
    EXAMPLE
    optimizer.step()
time.sleep(0.1)  # else torch may wait for ever for gloo's thread
dist.destroy_process_group()
