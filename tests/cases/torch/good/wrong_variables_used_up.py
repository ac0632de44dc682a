import torch
import torch.nn as nn

torch.manual_seed(4)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        weights = list(self.actor.parameters())
        print("parameters:", sum(p.numel() for p in weights))
        self.opt = torch.optim.Adam(weights, lr=3e-3)

    def update(self, obs, act, ret):
        dist = torch.distributions.Categorical(logits=self.actor(obs))
        loss = -(dist.log_prob(act) * ret).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    agent = Agent()
    for _ in range(10):
        obs = torch.randn(32, 4)
        act = torch.randint(2, (32,))
        print(round(agent.update(obs, act, (act == (obs[:, 0] > 0)).float() - 0.5), 4))


main()
