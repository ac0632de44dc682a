"""The program that watch.py measures: DQN updates on batches of 32, and what people add to see gradients.

    python watch_loop.py UPDATES WIDTH [bare|scalars|histograms|wandb] [FOLDER]

It waits for a line on its input before each turn of updates, so that several copies can take turns.
"""

import copy
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

TURN = 50

updates, width = int(sys.argv[1]), int(sys.argv[2])
peer = sys.argv[3] if len(sys.argv) > 3 else "bare"
folder = sys.argv[4] if len(sys.argv) > 4 else ""
torch.manual_seed(0)
torch.set_num_threads(1)
layers = [nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2)]
q_net = nn.Sequential(*layers)
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
states, actions = torch.randn(1000, 4), torch.randint(0, 2, (1000, 1))
rewards, done = torch.randn(1000, 1), (torch.rand(1000, 1) < 0.1).float()

if peer in ("scalars", "histograms"):
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(folder)
elif peer == "wandb":
    import wandb

    run = wandb.init(mode="offline", dir=folder, settings=wandb.Settings(silent=True, console="off"))
    wandb.watch(q_net, log="all", log_freq=1)


def log(step: int) -> None:
    """The naive way: five numbers of each gradient and of each variable; or a histogram of each as well."""
    for name, parameter in q_net.named_parameters():
        for what, tensor in (("gradients", parameter.grad), ("variable", parameter.detach())):
            for key in ("mean", "std", "min", "max", "norm"):
                writer.add_scalar(f"{name}/{what}/{key}", getattr(tensor, key)(), step)
            if peer == "histograms":
                writer.add_histogram(f"{name}/{what}", tensor, step)


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
    if peer in ("scalars", "histograms"):
        log(update)
    optimizer.step()
    if peer == "wandb":
        run.log({"loss": loss})
    if update % 500 == 0:
        target_net.load_state_dict(q_net.state_dict())
    if update % TURN == TURN - 1:
        print(time.process_time() - started, loss.item(), flush=True)
        sys.stdin.readline()
        started = time.process_time()
if peer == "wandb":
    run.finish()
