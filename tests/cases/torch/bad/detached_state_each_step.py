import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, seq):
        h = torch.zeros(seq.shape[1], 16)
        outs = []
        for x in seq:
            h = self.cell(x, h.detach())
            outs.append(self.head(h))
        return torch.stack(outs)


def main():
    net = Net()
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    for i in range(60):
        seq = torch.randn(8, 16, 4)
        target = seq[:1].sum(-1, keepdim=True).expand(8, 16, 1)
        loss = (net(seq) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


main()
