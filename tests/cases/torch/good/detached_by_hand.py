import torch
import torch.nn as nn

torch.manual_seed(11)
encoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
q, target = nn.Linear(16, 2), nn.Linear(16, 2)
target.load_state_dict(q.state_dict())
weights = [*encoder.parameters(), *q.parameters()]
velocity = [torch.zeros_like(p) for p in weights]
for step in range(120):
    s, a, r, s2 = torch.randn(32, 4), torch.randint(0, 2, (32, 1)), torch.randn(32), torch.randn(32, 4)
    with torch.no_grad():
        y = r + 0.9 * target(encoder(s2)).max(1).values
    features = encoder(s)
    loss = (q(features).gather(1, a).squeeze(1) - y).pow(2).mean()
    loss.backward()
    for p, v in zip(weights, velocity):
        if p.grad is not None:
            v.mul_(0.9).add_(p.grad)
            p.data -= 1e-2 * v
            p.grad = None
    if step % 20 == 0:
        for t, p in zip(target.parameters(), q.parameters()):
            t.data.copy_(p.data)
        print(step, round(loss.item(), 4))
