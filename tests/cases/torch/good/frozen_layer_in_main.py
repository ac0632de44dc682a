import torch
import torch.nn as nn

torch.manual_seed(5)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 32)
        self.head = nn.Linear(32, 2)
        self.body.requires_grad_(True)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def main():
    net = QNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(20):
        obs, act = torch.randn(16, 4), torch.randint(2, (16, 1))
        loss = (net(obs).gather(1, act).squeeze(1) - obs[:, 0]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"loss {loss.item():.3f}")


main()
