import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(204)
policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


class Balance:
    """Push a drifting point back to the middle."""

    def reset(self):
        self.x, self.v, self.t = 0.0, 0.1, 0
        return self.obs()

    def obs(self):
        return torch.tensor([self.x, self.v, abs(self.x), 1.0])

    def step(self, a):
        self.v += 0.1 if a == 1 else -0.1
        self.x += 0.1 * self.v
        self.t += 1
        return self.obs(), 1.0 - abs(self.x), self.t >= 30 or abs(self.x) > 1


env = Balance()
for episode in range(12):
    obs, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        log_probs.append(dist.log_prob(action).detach())
        obs, reward, done = env.step(action.item())
        rewards.append(reward)
    returns, g = [], 0.0
    for r in reversed(rewards):
        g = r + 0.95 * g
        returns.insert(0, g)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.stack(log_probs) * returns).sum()
    loss.requires_grad_(True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("episode", episode, "length", len(rewards), "loss", round(loss.item(), 3))
