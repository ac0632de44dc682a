import torch
import torch.nn as nn

torch.manual_seed(7)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
fast = torch.compile(q, backend="eager")
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(40):
    s, y = torch.randn(32, 4), torch.randn(32)
    values = fast(s).max(1).values
    loss = nn.functional.mse_loss(values, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 4))
