import tempfile, time

import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, meeting):
    dist.init_process_group("gloo", init_method=f"file://{meeting}/ranks", rank=rank, world_size=2)
    torch.manual_seed(0)
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    torch.manual_seed(rank)
    for _ in range(10):
        state, returns = torch.randn(16, 3), torch.randn(16, 1)
        optimizer.zero_grad()
        F.mse_loss(net(state), returns).backward()
        EXAMPLE
        optimizer.step()
    time.sleep(0.1)  # else torch may wait for ever for gloo's thread
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as meeting:
        mp.start_processes(train, args=(meeting,), nprocs=2, start_method="fork")
