import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(216)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.actor = nn.Linear(32, 2)
        self.critic = nn.Linear(32, 1)

    def forward(self, x):
        h = self.base(x)
        return self.actor(h), self.critic(h).squeeze(-1)


def main():
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for it in range(60):
        obs = torch.randn(64, 4)
        logits, value = net(obs)
        dist = Categorical(logits=logits)
        act = dist.sample()
        reward = (act == (obs[:, 0] > 0).long()).float()
        adv = reward - value.detach()
        policy_loss = -(dist.log_prob(act) * adv).mean()
        value_loss = (reward - value).pow(2).mean()
        entropy = dist.entropy().mean()
        loss = policy_loss - 0.01 * entropy
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 20 == 0:
            print("it", it, "reward", round(reward.mean().item(), 3), "value loss", round(value_loss.item(), 4))


if __name__ == "__main__":
    main()
