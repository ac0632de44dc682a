import torch
import torch.nn as nn

torch.manual_seed(3)


class Actor(nn.Module):
    def __init__(self, sizes=(3, 32, 1)):
        super().__init__()
        pairs = zip(sizes[:-1], sizes[1:])
        self.layers = [nn.Linear(a, b) for a, b in pairs]

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)


def main():
    actor = Actor()
    opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
    for _ in range(10):
        obs = torch.randn(16, 3)
        loss = (actor(obs) - obs.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"loss {loss.item():.3f}")


main()
