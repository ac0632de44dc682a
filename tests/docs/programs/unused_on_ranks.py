import tempfile, time

import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy, self.value = nn.Linear(3, 1), nn.Linear(3, 1)

    def forward(self, state):
        return self.policy(state), self.value(state)


def train(rank, meeting):
    dist.init_process_group("gloo", init_method=f"file://{meeting}/ranks", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = DistributedDataParallel(Agent(), find_unused_parameters=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    torch.manual_seed(rank)
    for _ in range(10):
        state, returns = torch.randn(16, 3), torch.randn(16, 1)
        action, value = model(state)
        policy_loss, value_loss = F.mse_loss(action, state[:, :1]), F.mse_loss(value, returns)
        EXAMPLE
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    time.sleep(0.1)  # else torch may wait for ever for gloo's thread
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as meeting:
        mp.start_processes(train, args=(meeting,), nprocs=2, start_method="fork")
