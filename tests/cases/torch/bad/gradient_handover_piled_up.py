import torch
import torch.nn as nn

torch.manual_seed(8)


class Worker:
    def __init__(self, shared, opt):
        self.shared, self.opt = shared, opt
        self.local = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))

    def round(self):
        self.local.load_state_dict(self.shared.state_dict())
        obs, act = torch.randn(8, 4), torch.randint(2, (8,))
        loss = nn.functional.cross_entropy(self.local(obs), act)
        self.opt.zero_grad()
        loss.backward()
        for mine, theirs in zip(self.local.parameters(), self.shared.parameters()):
            theirs.grad = mine.grad
        self.opt.step()
        return loss.item()


def main():
    shared = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    opt = torch.optim.SGD(shared.parameters(), lr=1e-2)
    workers = [Worker(shared, opt) for _ in range(2)]
    for _ in range(10):
        losses = [worker.round() for worker in workers]
    print(f"loss {sum(losses):.3f}")


main()
