import torch
import torch.nn as nn

torch.manual_seed(5)


class Averaged:
    """Keeps a fast and a slow copy; no optimizer of torch."""

    def __init__(self, params, lr=1e-2, beta=0.9):
        self.params = list(params)
        self.fast = [p.detach().clone() for p in self.params]
        self.slow = [p.detach().clone() for p in self.params]
        self.lr, self.beta, self.steps = lr, beta, 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        for p, fast, slow in zip(self.params, self.fast, self.slow):
            if p.grad is not None:
                fast -= self.lr * p.grad
            slow.lerp_(fast, 1 / self.steps)
            p.copy_((1 - self.beta) * fast + self.beta * slow)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


encoder = nn.Linear(4, 4)
value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = Averaged([*encoder.parameters(), *value.parameters()])
for step in range(60):
    s = torch.randn(32, 4)
    features = encoder(s)
    loss = (value(features).squeeze(1) - s.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, round(loss.item(), 4))
