import torch
import torch.nn as nn

torch.manual_seed(7)
encoder = nn.Sequential(nn.Linear(6, 24), nn.Tanh())
head = nn.Linear(24, 1)
opt = torch.optim.LBFGS([*encoder.parameters(), *head.parameters()], lr=0.5, max_iter=5, line_search_fn="strong_wolfe")


def collect(n=128):
    obs = torch.randn(n, 6)
    ret = torch.sin(obs[:, :1] * 2) + obs[:, 1:2] * obs[:, 2:3]
    return obs, ret


for epoch in range(6):
    obs, ret = collect()
    z = encoder(obs).detach()

    def closure():
        opt.zero_grad()
        v = head(z)
        loss = ((v - ret) ** 2).mean() + 1e-4 * sum((p ** 2).sum() for p in head.parameters())
        loss.backward()
        return loss

    loss = opt.step(closure)
    print("epoch", epoch, "value loss", round(loss.item(), 4))
