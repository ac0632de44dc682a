import torch
from torch import nn
torch.manual_seed(0)
# truncated BPTT within one long sequence, every 4 steps; one update per sequence
cell = nn.GRUCell(4, 16)
head = nn.Linear(16, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], 1e-2)
for i in range(60):
    seq = torch.randn(12, 8, 4)
    h = torch.zeros(8, 16)
    losses = []
    for t, x in enumerate(seq):
        if t % 4 == 0:
            h = h.detach()
        h = cell(x, h)
        losses.append((head(h) - x.sum(-1, keepdim=True)).pow(2).mean())
    loss = torch.stack(losses).mean()
    opt.zero_grad(); loss.backward(); opt.step()
