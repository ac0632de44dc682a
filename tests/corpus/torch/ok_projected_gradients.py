"""Two tasks, one trunk: gradients of each task are taken, freed of what hurts the other, and put together."""

import torch
import torch.nn as nn

torch.manual_seed(51)


def flat(net):
    return torch.cat([p.grad.flatten() for p in net.parameters()])


def put(net, gradient):
    at = 0
    for p in net.parameters():
        p.grad.copy_(gradient[at : at + p.numel()].view_as(p))
        at += p.numel()


def main(updates=60):
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for update in range(updates):
        obs = torch.randn(64, 4)
        wanted = torch.stack([obs[:, 0], -obs[:, 1]], 1)
        grads = []
        for task in range(2):
            opt.zero_grad()
            loss = (net(obs)[:, task] - wanted[:, task]).pow(2).mean()
            loss.backward()
            grads.append(flat(net))
        first, second = grads
        dot = first @ second
        if dot < 0:
            first, second = first - dot / second.norm() ** 2 * second, second - dot / first.norm() ** 2 * first
        put(net, first + second)
        opt.step()
        if update % 20 == 0:
            print(update, round(loss.item(), 4))


if __name__ == "__main__":
    main()
