import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(219)


class DeepQ(nn.Module):
    def __init__(self, n_obs, n_act, width=32, depth=3):
        super().__init__()
        self.first = nn.Linear(n_obs, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, n_act)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.out(x)


net = DeepQ(4, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for step in range(80):
    s = torch.randn(48, 4)
    a = torch.randint(3, (48, 1))
    r = (a == s[:, :3].argmax(1, keepdim=True)).float()
    loss = F.mse_loss(net(s).gather(1, a), r)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("step", step, "loss", round(loss.item(), 4), "parameters", sum(p.numel() for p in net.parameters()))
