import torch
import torch.nn as nn

torch.manual_seed(8)
q, target = (nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2))
target.load_state_dict(q.state_dict())
temperature = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.Adam([*q.parameters(), temperature], lr=1e-3)


def update(s, a, r, s2):
    with torch.no_grad():
        y = r + 0.9 * target(s2).max(1).values
    chosen = q(s).gather(1, a[:, None]).squeeze(1)
    loss = (chosen - y + temperature).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


fast = torch.compile(update, backend="eager")
for step in range(40):
    loss = fast(torch.randn(32, 4), torch.randint(0, 2, (32,)), torch.randn(32), torch.randn(32, 4))
    if step % 10 == 0:
        target.load_state_dict(q.state_dict())
        print(step, round(loss.item(), 4))
