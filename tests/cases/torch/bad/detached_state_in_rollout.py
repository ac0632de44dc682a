"""A cue is shown once, and asked for at the end of each episode: the state has to keep it."""

import torch
from torch import nn
from torch.nn import functional as F


class RecurrentActorCritic(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.encoder = nn.Linear(3, hidden)
        self.gru = nn.GRUCell(hidden, hidden)
        self.policy = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, 1)

    def forward(self, x, h):
        h = self.gru(F.relu(self.encoder(x)), h.detach())
        return self.policy(h), self.value(h).squeeze(-1), h


class Cue:
    def reset(self):
        self.left, self.cue = 6, torch.randint(2, ()).item()
        return torch.tensor([[1.0, float(self.cue), 0.0]])

    def step(self, action):
        self.left -= 1
        done = self.left == 0
        return torch.tensor([[0.0, 0.0, self.left / 6]]), float(done and action == self.cue), done


def main():
    torch.manual_seed(0)
    env, net = Cue(), RecurrentActorCritic()
    opt = torch.optim.RMSprop(net.parameters(), lr=7e-4)
    x, h = env.reset(), torch.zeros(1, 16)
    for _ in range(30):
        log_probs, values, entropies, rewards, goes_on = [], [], [], [], []
        h = h.detach()
        for _ in range(16):
            logits, value, h = net(x, h)
            dist = torch.distributions.Categorical(logits=logits)
            action = dist.sample()
            x, reward, done = env.step(action.item())
            log_probs.append(dist.log_prob(action))
            entropies.append(dist.entropy())
            values.append(value)
            rewards.append(reward)
            goes_on.append(1.0 - done)
            if done:
                x, h = env.reset(), torch.zeros(1, 16)
        with torch.no_grad():
            ret = net(x, h)[1]
        returns = []
        for reward, more in zip(reversed(rewards), reversed(goes_on)):
            ret = reward + 0.99 * ret * more
            returns.insert(0, ret)
        values, returns = torch.cat(values), torch.cat(returns)
        policy_loss = -(torch.cat(log_probs) * (returns - values.detach())).mean()
        value_loss = F.mse_loss(values, returns)
        loss = policy_loss + 0.5 * value_loss - 0.01 * torch.cat(entropies).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
