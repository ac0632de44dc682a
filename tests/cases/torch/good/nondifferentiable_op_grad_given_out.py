import torch
import torch.nn as nn

torch.manual_seed(6)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
model = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 1))
weights = [*policy.parameters(), *model.parameters()]


def act(s):
    return torch.softmax(policy(s), 1)


for step in range(80):
    s = torch.randn(32, 4)
    value = model(torch.cat([s, act(s)], 1)).squeeze(1)
    loss = (value - s[:, 0]).pow(2).mean()
    gradients = torch.autograd.grad(loss, weights, allow_unused=True)
    with torch.no_grad():
        for weight, gradient in zip(weights, gradients):
            if gradient is not None:
                weight.sub_(gradient, alpha=0.05)
    if step % 20 == 0:
        print(step, round(loss.item(), 4))
