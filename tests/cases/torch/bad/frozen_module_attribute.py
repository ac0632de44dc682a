import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.head = nn.Linear(32, 2)

    def forward(self, x):
        return self.head(self.encoder(x))


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


def main():
    net = Net()
    set_trainable(net.encoder, False)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for i in range(60):
        if i == 20:
            net.encoder.requires_grad = True
        x, y = torch.randn(16, 4), torch.randn(16, 2)
        loss = (net(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
