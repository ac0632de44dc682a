"""A2C with returns that are carried back through a rollout, step by step; a mask is a plain number."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(735)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)


def main():
    obs = torch.randn(4)
    for update in range(30):
        log_probs, values, rewards, masks = [], [], [], []
        for _ in range(20):
            dist = torch.distributions.Categorical(logits=actor(obs))
            action = dist.sample()
            log_probs.append(dist.log_prob(action))
            values.append(critic(obs))
            rewards.append(float(action.item() == int(obs[0] > 0)))
            done = torch.rand(()).item() < 0.1
            masks.append(0.0 if done else 1.0)
            obs = torch.randn(4)
        with torch.no_grad():
            carried = critic(obs)
        returns = []
        for reward, mask in zip(reversed(rewards), reversed(masks)):
            carried = reward + 0.9 * carried * mask
            returns.insert(0, carried)
        returns, values = torch.cat(returns), torch.cat(values)
        advantage = returns - values.detach()
        loss = -(torch.stack(log_probs) * advantage).mean() + 0.5 * F.mse_loss(values, returns)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(round(loss.item(), 3))


main()
