"""A critic that is trained where its loss is flat: up by hand along the gradient, then a step from there."""

import torch
import torch.nn as nn

torch.manual_seed(52)


class Sharp:
    def __init__(self, params, base, rho=0.05):
        self.params, self.base, self.rho, self.moved = list(params), base, rho, []

    def climb(self):
        with torch.no_grad():
            for p in self.params:
                step = self.rho * p.grad / (p.grad.norm() + 1e-8)
                p.add_(step)
                self.moved.append(step)

    def descend(self):
        with torch.no_grad():
            for p, step in zip(self.params, self.moved):
                p.sub_(step)
        self.moved.clear()
        self.base.step()


def main(updates=60):
    critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    opt = torch.optim.Adam(critic.parameters(), 1e-3)
    sharp = Sharp(critic.parameters(), opt)
    for update in range(updates):
        obs = torch.randn(64, 4)
        ret = obs.pow(2).sum(1, keepdim=True)
        for phase in (sharp.climb, sharp.descend):
            opt.zero_grad()
            loss = (critic(obs) - ret).pow(2).mean()
            loss.backward()
            phase()
        if update % 20 == 0:
            print(update, round(loss.item(), 4))


if __name__ == "__main__":
    main()
