import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(239)


class RecurrentModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, x, h):
        y, h = self.rnn(x, h)
        return self.out(y), h


net = RecurrentModel()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
hidden = torch.zeros(1, 8, 16)
for chunk in range(30):
    obs = torch.randn(8, 5, 3)
    value, hidden = net(obs, hidden)
    returns = obs.sum(-1, keepdim=True).cumsum(1)
    loss = F.mse_loss(value, returns)
    opt.zero_grad()
    loss.backward()
    opt.step()
    hidden = hidden.detach()
    if chunk % 10 == 0:
        print("chunk", chunk, "loss", round(loss.item(), 4))
